"""A champion as others load it: transformers and PEFT folders, a GGUF that was read back, a repository on a hub."""
