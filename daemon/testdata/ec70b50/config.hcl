# The configuration of the databases beside it.
sandbox {
  max_stdout = "4KB"
}
policy {
  mode   = "restricted"
  expiry = "876000h"
}
rule "no-publishing" {
  decision = "deny"
  commands = ["git push"]
}
plugin "research" {
  grants = ["tools", "models"]
}
provider "parrot" {
  plugin   = "openai"
  base_url = "http://127.0.0.1:18765/v1"
}
agent "default" {
  model = "parrot/parrot"
}
agent "looping" {
  model = "parrot/parrot"
}
