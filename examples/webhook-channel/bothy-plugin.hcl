# What the plugin is made of, where it is installed as a whole: bothy plugins install .
name    = "webhook"
version = "1.0.0"
start   = "bothy-plugin-webhook"
files   = ["bothy-plugin-webhook", "bothy/*"]
