"""The reward audit: do the rewards order answers as people do?"""
