# What the plugin is made of, where it is installed as a whole: bothy plugins install .
name    = "words"
version = "1.0.0"
start   = "bothy-plugin-words"
files   = ["bothy-plugin-words", "*.py"]
