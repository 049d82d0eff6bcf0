"""What judges are told: versioned prompts, each with its reply schema and the strict reader of its replies.

A prompt is pure: data in, messages out; a reply's JSON in, typed values out. Text under test is only ever
data inside a JSON document (`documents`). Change the words of a prompt and its version changes with them.
"""
