# Your configuration of Bothy. What is commented out here is the default; to
# change it, uncomment the whole block. `bothy config show` prints every setting
# there is, with what it means. A running daemon takes over what you save at
# once; `bothy config check` shows mistakes where they stand.

# The model that `bothy run` takes when you name none: PROVIDER/MODEL, or a model
# block below. Without one Bothy takes the first that it finds; see `bothy models`.
#agent "default" {
#  # model = "ollama/qwen3:8b"
#  tools = ["*"]
#}

# Another server with the wire of Chat Completions. secret() is a key that `bothy
# auth login` keeps, or a variable of the environment; it is never shown.
#provider "openai" {
#  base_url = env("OPENAI_BASE_URL", "https://api.openai.com/v1")
#  api_key  = secret("OPENAI_API_KEY")
#  model    = "gpt-4.1-mini"
#}

# The container that commands run in.
#sandbox {
#  memory  = "2GB"
#  pids    = 512
#  timeout = "2m"
#}

# What stops an agent that does not get on. 0 turns one off.
#guard {
#  max_turns          = 99
#  repeated_calls     = 2
#  consecutive_errors = 3
#}

# How long runs are kept after their last work, in days.
#store {
#  retention_days = 31
#}
