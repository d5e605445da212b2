"""Files that outlive a process: the storage root, folders in any storage, locks, journals and logs."""
