# Bothy's configuration, as it is built in. To change something, write only
# that into ~/.config/bothy/config.hcl: a block with the same label is merged
# attribute by attribute. `bothy config init` writes a first one, `bothy config
# check` shows mistakes where they stand, `bothy config show` prints every value
# with the place it comes from. A running daemon takes over what changed when the
# file is saved; a file with a mistake changes nothing. Single settings can also
# be set in the environment: BOTHY_SANDBOX_TIMEOUT is sandbox { timeout }. What all
# agents should know of you stands beside the file, in AGENTS.md.
#
# Three functions: env("NAME"[, "default"]), file("path"), secret("NAME"[, "default"]). A
# secret is looked up in the environment, in the keyring, and in credentials.json
# beside the file, and never shown; `bothy auth login` gives one. A path may begin
# with ~/; a relative one begins in the folder of the file.

# Where the daemon listens; like store.path it takes effect at the next start.
# Empty is $XDG_RUNTIME_DIR/bothy/bothy.sock. A client reads no configuration: it
# finds a daemon elsewhere through the data directory, or at BOTHY_LISTEN_SOCKET,
# which the daemon heeds as well. With web, such as "127.0.0.1:8378", programs of this
# machine that show a token reach it by WebSockets, too; empty is off.
listen {
  socket = ""
  web    = ""
}

# Where state lies, and for how long. Empty is $XDG_STATE_HOME/bothy/bothy.db. A
# run rests when it was given no prompt for the time of `rest`, one that a channel
# began after `channel_rest`: what was said in it can be learned from then, and of a
# channel the next message begins another run. A run in which nothing is done for
# idle_days loses its container and keeps its home and what was said; after
# retention_days all of it is deleted. 0 is never. What files held
# before a run changed them, for `bothy runs undo`, lies beside it, compressed. An
# entry of known:// is refused that is longer than known_tokens, so that one holds
# one fact.
store {
  path           = ""
  retention_days = 31
  idle_days      = 7
  rest           = "30m"
  channel_rest   = "1h"
  undo_size      = "2GB"
  undo_days      = 31
  known_tokens   = 512
}

# The daemon's own log, shown by `bothy logs`.
log {
  level    = "info" # trace, debug, info, warn or error
  max_size = "10MB" # rotated then
  keep     = 3
}

# How long running tools have to end when the daemon stops.
stop {
  grace = "5s"
}

# The container that commands run in: rootless Podman, no network, one per run.
sandbox {
  image      = ""     # empty: a skeleton with this machine's /usr, read-only
  runtime    = "auto" # auto, crun or runc
  socket     = ""     # empty: the user's Podman socket, else a service of Bothy's own
  memory     = "2GB"
  pids       = 512
  tmp        = "64MB"
  timeout    = "2m" # one command that names no time of its own; at most 10m
  max_stdout = "10MB"
  max_stderr = "1MB"
  shell      = "bash"    # argv: one program and its words, and no shell at all
  workspace  = "project" # a copy of it where that is possible; direct: the project itself; private: an empty folder
  quota      = "5GB"     # of a run's home and private workspace; watched
  # cpus     = 1     # by default half of those that are there
}

# What differs for one project, named by its root: any of the limits above, and
# workspace. Runs without a project, those of channels, have 512MB, one processor
# and 128 processes at most. `tests` is what the tool run_tests runs there, where it
# is to find nothing by itself.
#
# project "~/src/shop" {
#   sandbox {
#     memory  = "8GB"
#     timeout = "8m"
#   }
#   tests {
#     command = "make check"
#     junit   = "build/junit.xml" # a report that the command writes; without it what it prints is read
#   }
# }

# Who may write to a channel, named by its plugin block and by what the service calls them:
# of anybody else a prompt is refused. What they begin, and what is remembered of them, is
# their own; with `owner` it is that of whoever works here. docs/channels.md has more.
#
# person "telegram/12345" {
#   name    = "Ada"
#   agent   = "chat"  # of conversations that they begin
#   owner   = "local" # nobody but you: what you told Bothy here it tells them too
#   answers = true    # they answer what its runs propose, where the channel is granted "answers"
# }

# How much agents may do without asking a person; docs/policy.md tells all of it.
# In interactive mode everything with side effects is asked about. In restricted
# mode what is proven to stay inside the project runs, and the rest is asked about
# when somebody is there to ask, else refused. In workspace mode commands work on a
# copy of the project, so that they run unasked and can be taken back; the network,
# paths that are protected and what leaves the project are asked about. Where no copy
# is possible, and for channels, restricted holds in its place, or what an agent's
# without_view names. In full mode what is not on the deny-list runs; it needs
# allow_dangerous. This mode is that of agents whose block names none.
policy {
  mode            = "workspace"
  allow_dangerous = false
  expiry          = "24h" # a question that nobody answered by then is a refusal
  answer_within   = "5m"  # `bothy run` without a terminal waits so long, then exits with 4
}

# What git, Bothy, a shell or another agent would obey in a project is refused to
# commands and tools, and what editors and tools would run is asked about;
# docs/sandbox.md has the list. These lists change it: a name at any depth, or a
# path from the project on, with * and ? within a name and ** over folders. `free`
# takes away what is protected by itself, the other two add to what is left. The
# file of a project may have `refuse` and `ask`:
#
# protect {
#   refuse = ["deploy/keys/**", "*.tfstate"]
#   ask    = ["Makefile", "db/migrations"]
#   free   = [".vscode", ".github/workflows"]
# }

# A rule decides about calls of tools before the mode does. All that it names
# must hold. Of the rules that fit, deny goes before propose, and propose before
# allow, wherever they stand:
#
# rule "tests" {
#   decision = "allow"
#   commands = ["go test", "go vet", "make check"] # the first words; what follows is free
# }
# rule "no-publishing" {
#   decision = "deny"
#   commands = ["git push", "npm publish"]
# }
# rule "look-at-migrations" {
#   decision = "propose" # also in full mode
#   tools    = ["write_file", "edit_*"]
#   paths    = ["db/migrations/**"]
# }
# rule "small-notes" {
#   decision  = "allow"
#   tools     = ["note"]
#   arguments = { kind = "draft*" }
#   modes     = ["interactive"]
# }

# Where tools that look at the web may go unasked, and where never; deny goes first. Of
# other hosts a person is asked, unless the address stands in a prompt or in what a search
# found. A project block may have one, and a project's own file `deny`:
#
# hosts {
#   allow = ["docs.example.org", "*.example.net"]
#   deny  = ["ads.example.com"]
# }
# rule "no-forums" {
#   decision = "deny"
#   hosts    = ["forum.*"]
# }

# What holds in every project: the agent and the model of prompts that name none,
# and tools that no agent gets. A project may say the same of itself, and have
# rules that deny or propose, in its own .bothy/config.hcl. What that denies
# always holds; which agent and model it takes counts only in projects that
# `trust` names by their roots:
#
# workspace {
#   agent = "default"
#   deny  = ["files__delete_*"]
#   trust = ["~/src/**"]
# }

# What stops the work on a prompt; an agent block may set each for itself. 0
# turns one off. The loop ends with a status of 499 and says which it was. Agents
# that write calls as tags (dialect = "tags") have repeated_calls and
# consecutive_errors 0, max_strikes and min_cycles 3 and max_cycle_period 4, but
# for what your own file sets here.
guard {
  max_turns          = 99
  repeated_calls     = 2 # the same call in a row: the second is answered with what the first came to, the third stops
  consecutive_errors = 3 # answers in a row with a call that failed; an exit status is no failure
  window_calls       = 0 # the same call so many times among the last window_size
  window_size        = 0
  max_strikes        = 0 # turns in a row with a failed call or a pattern that repeats
  min_cycles         = 0 # a pattern is the same turns so many times ...
  max_cycle_period   = 0 # ... each time so many turns at most
  deadline           = "0s" # time of one prompt, waiting for models included; cuts what hangs
  max_children       = 16   # tasks that are delegated for one prompt, in all
  max_cost           = 0    # of one prompt, as far as providers report what it cost
}

# How much of a model's context prompts take, in shares of it. A model block and an
# agent block may have a context block too, with what differs there: what the agent
# says goes before what its model says, and that before this one.
context {
  ceiling    = 0.9 # a longer prompt is not sent
  prune_at   = 0.8 # from there on the oldest answers with their results are left out ...
  keep_turns = 5   # ... but the last ones, as long as there is anything else
  warn_at    = 0.7 # from there on people are told, not the model; 1 tells nobody
}

# Where skills (folders with a SKILL.md) are looked for beside Bothy's own
# folders, in the home and in projects, and how much of a model's context the
# list of them may take.
skills {
  agents  = true # .agents/skills and .agents/agents, which many other agents read too
  claude  = true # .claude/skills and .claude/agents
  bundled = true # those that came with Bothy
  budget  = 2    # percent
}

# A block switches one skill, whatever tier it comes from, and goes before
# `enabled` in its own SKILL.md. `bothy skills disable NAME` writes it here:
#
# skill "write-plugin" {
#   enabled = false
# }

# Plugins are binaries named bothy-plugin-NAME in libexec/bothy, or at `path`.
# What one may use is granted here; what its own schema declares stands here
# too: `bothy config check` checks it, and a running plugin whose new block is
# wrong keeps the old one, which `bothy status` shows. `enabled = false` leaves one out.
# `sha256` pins the file; `bothy plugins lock` pins all of them in bothy.lock, beside
# your file, and `bothy plugins install` writes a pinned block for a new one.
# `requires = ["files"]` names plugins that must be ready first, and
# `limits { memory = "512MB" files = 256 call = "2m" }`, on lines of its own, bounds its
# process, and how long a call of it may be silent.
plugin "bash" {
  grants = ["sandbox", "project"]
}

plugin "files" {
  grants = ["project"]
}

# A plugin can be confined, and `bothy plugins install` confines what it configures:
# the kernel then holds its process, and whatever it starts, to a folder of its own, to the system's programs and
# libraries, and to what stands here. An empty block is the tightest. Where the
# kernel cannot hold it, it does not start, unless best_effort = true; `bothy
# doctor` says what this machine can do. What it does not hold is in docs/security.md.
#
# plugin "weather" {
#   path = "~/plugins/bothy-plugin-weather" # a file, or the folder of a bundle
#   args = ["--units", "metric"]
#   env  = { WEATHER_CITY = "Berlin" } # beside what every plugin gets
#   confine {
#     paths       = ["~/weather"] # it reads and writes there
#     read_paths  = ["~/.venv"]   # it reads and executes there
#     network     = true          # false: Unix sockets of its own, nothing else
#     best_effort = false         # true: it runs also where not everything holds
#   }
# }

# confined = false, in a block without confine, is for a plugin that comes with Bothy, or for
# an MCP server: it has no walls then.
#
# A server of MCP starts when an agent that may use it works, with nothing of your
# environment, and confined like an installed plugin. Its tools are mcp__NAME__TOOL.
#
# mcp "notes" {
#   command = "/usr/bin/notes-mcp" # or url = "https://example.com/mcp", with headers = { ... }
#   args    = ["--readonly"]
#   env     = { NOTES_TOKEN = secret("notes_token") }
#   cwd     = "/srv/notes"
#   tools   = ["search_*"] # by its own names; all when absent
#   timeout = "25s"        # to start, and to list its tools
#   # transport = "sse"    # of a url: http or sse; absent tries both
#   confine {
#     read_paths = ["/srv/notes"]
#   }
# }

# A plugin that is a front end, a chat bot say, needs a word of its own: with
# grants = ["channel"] and projects = ["~/work/site"] what people write there
# becomes work in these projects, and in no others. With "answers" beside it, of a plugin
# that is pinned, people whose block says so accept there what stays in the workspace of its
# run, and calls of the tools in answers { tools = ["web_fetch"] }.

# A plugin may bring agents, which it declares: those that `agents` names can be
# chosen like the blocks further below, and what they hand back the plugin judges.
# They have the tools that they ask for, and with `agent_tools` only those that
# it fits as well. In all else they have no more than the agent "default".
#
# plugin "review" {
#   path        = "~/bin/bothy-plugin-review"
#   agents      = ["reviewer"]
#   agent_tools = ["read_file", "grep"]
# }

# A plugin may also execute skills: a SKILL.md names it. What a plugin may ask of
# the daemon is what it declares (`bothy-plugin-NAME describe` shows it as "calls")
# and its block lets it: with "tools" it calls those that fit `tools`, with
# "entries" it reads and writes entries of the `schemes` (all that it declares when
# either list is left out), with "models" it asks the model of the run, and others
# only when `models` names them, with "secrets" it gets those that `secrets` names,
# with "runs" (and "entries") it starts runs of the project and gives them prompts.
# quota { calls = 600, completions = 20 } is what it may ask for: services in a
# minute, and completions for one call that it serves.
# Whatever it calls is judged as if the model of the run had called it. With
# `on_use` the process starts when a skill is first executed.
plugin "research" {
  grants = ["tools", "models"]
  tools  = ["find_files", "grep", "read_file"]
  on_use = true
}

# The plugin "web" looks at the web: web_fetch reads pages and documents, and keeps their text
# as entries of the run (docs/web.md). It is not there unless you write its block. Its web_search is
# offered when one of the engines is configured.
#
# plugin "web" {
#   grants      = ["entries", "tools"] # tools: it calls web_fetch for each page that it fetches ahead
#   max_text    = 1000000 # bytes of a text, decompressed; the rest is cut. 5242880 at most
#   max_pdf     = 5242880 # bytes of a PDF; a larger one is refused. 20971520 at most
#   ports       = [8443]  # of public hosts, besides 80 and 443
#   origins     = ["http://127.0.0.1:8080"] # asked though they are none of the web
#   engine      = "brave" # else the first of these that is configured
#   tavily_key  = secret("TAVILY_API_KEY")
#   brave_key   = secret("BRAVE_API_KEY")
#   searxng_url = "http://127.0.0.1:8888" # yours; it needs json in search.formats of its settings.yml
#   tavily_url  = "https://api.tavily.com"
#   brave_url   = "https://api.search.brave.com"
#   prefetch    = 0 # of the pages that a search finds, how many are fetched with it: 5 at most
# }

# The plugin "memory" remembers facts of you and of the people of channels, each their own (docs/memory.md). It is not there
# unless you write its block.
#
# plugin "memory" {
#   grants       = ["entries", "tools", "models"] # tools: it asks you before it remembers what a page may have said
#   learn        = true # from what a person wrote in a run, when it rests: a completion of the run's own model for each rest
#   models       = ["ollama/*"]       # others that may be asked for that
#   learn_model  = "ollama/qwen3:4b"  # and which one is
#   not_agents   = ["reviewer"]       # from whose runs and prompts nothing is learned
#   not_projects = ["/home/me/work"]  # likewise
#   not_people   = ["local"]          # owners: you, or the label of a person's block
# }

# The plugin "telegram" is a bot of Telegram (docs/telegram.md). It is not there unless you write its block, which
# needs a token of @BotFather. Nobody may write to it but whom a person block names: `bothy channels pair`
# writes that of whoever sends the code that it shows. With the grant "answers", people whose block says
# answers = true accept or reject what their runs propose.
#
# plugin "telegram" {
#   grants = ["channel", "answers"]
#   token  = secret("TELEGRAM_TOKEN")
#   api    = "https://api.telegram.org" # another server of the Bot API: over https, or on this machine
# }
# person "telegram/123456789" {
#   name    = "Ada"
#   answers = true
# }

# A provider is an instance of a plugin that answers completions. It is started
# when one of its models is used. The plugin "openai" speaks to any server with
# Chat Completions; what some of them differ in it knows by their address, or by
# `profile` (groq, openrouter, xai, mistral, deepseek, vllm, llamacpp, lmstudio,
# openai, plain) where that does not tell.
#
# Ollama is started, and ended with its plugin, when it is installed, one of its
# models is wanted and nothing listens at an address of this machine
# (`start = false` leaves that to you). It would inherit the limit of its plugin.
provider "ollama" {
  base_url = env("OLLAMA_HOST", "http://127.0.0.1:11434")
  api_key  = secret("OLLAMA_API_KEY", "") # for one that wants it
  limits {
    memory = "1TB"
  }
}

provider "lmstudio" {
  plugin   = "openai"
  base_url = "http://127.0.0.1:1234/v1"
}

provider "llamacpp" {
  plugin   = "openai"
  base_url = "http://127.0.0.1:8080/v1"
}

provider "vllm" {
  plugin   = "openai"
  base_url = "http://127.0.0.1:8000/v1"
}

provider "openai" {
  base_url = env("OPENAI_BASE_URL", "https://api.openai.com/v1")
  api_key  = secret("OPENAI_API_KEY")
  model    = "gpt-4.1-mini" # taken when only the key is known
}

provider "anthropic" {
  base_url = env("ANTHROPIC_BASE_URL", "https://api.anthropic.com")
  api_key  = secret("ANTHROPIC_API_KEY")
  model    = "claude-sonnet-5-5"
}

provider "groq" {
  plugin   = "openai"
  base_url = "https://api.groq.com/openai/v1"
  api_key  = secret("GROQ_API_KEY")
  model    = "llama-3.3-70b-versatile"
}

provider "openrouter" {
  plugin   = "openai"
  base_url = "https://openrouter.ai/api/v1"
  api_key  = secret("OPENROUTER_API_KEY")
  model    = "openrouter/auto"
}

provider "xai" {
  plugin   = "openai"
  base_url = "https://api.x.ai/v1"
  api_key  = secret("XAI_API_KEY")
  model    = "grok-4"
}

provider "mistral" {
  plugin   = "openai"
  base_url = "https://api.mistral.ai/v1"
  api_key  = secret("MISTRAL_API_KEY")
  model    = "mistral-medium-latest"
}

provider "deepseek" {
  plugin   = "openai"
  base_url = "https://api.deepseek.com/v1"
  api_key  = secret("DEEPSEEK_API_KEY")
  model    = "deepseek-flash"
}

# Plays recorded conversations, so that Bothy can be tried without a model. `bothy run
# --record FILE` makes one, `--replay FILE` plays it without any provider.
provider "replay" {
  model = "first-run"
}

# A model of a provider is named provider/name everywhere. A block gives one a
# name of your own, and settings:
#
# model "fast" {
#   provider    = "groq"
#   name        = "llama-3.3-70b-versatile"
#   context     = 131072
#   temperature = 0.2
#   max_tokens  = 4096 # of one answer
#   reasoning   = "low" # how much it thinks: off, low, medium or high
#
#   fallback    = ["ollama/qwen3"]  # who answers in its place, in order
#   fallback_on = ["unreachable"]   # for one on this machine: also elsewhere when its server is down
#
#   context { # beside the attribute: how much of it prompts take
#     prune_at = 0.6
#   }
#
#   price { # of a million tokens; also in a provider block
#     prompt     = 0.59
#     cached     = 0.3 # of what the provider had in its cache; else as prompt
#     completion = 0.79
#   }
# }

# An agent is a profile. `bothy run` uses "default", `bothy chat` uses "chat".
# Without `model` Bothy takes the first it finds: a local server that answers
# with a model able to call tools, a provider whose key is there, else replay. What an
# agent may have beside its tools, its mode and each guard:
#
# agent "reviewer" {
#   description  = "Reviews a change and says what is wrong with it."
#   capabilities = ["review", "security"] # by which a prompt finds it where nobody names an agent
#   inherits     = "default" # whose attributes it has where it says nothing itself
#   model        = "fast" # without it that of the agent "default"
#   persona      = file("reviewer.md") # or a text: "You review changes. You never write files."
#   mcp          = ["notes"]  # the MCP servers that it may use; without it all
#   skills       = ["commit-message"] # the skills that it may use; without it all
#   agents       = ["default"] # those that it may delegate to; without it none
#   network      = false # no tool that reaches a network, none for its commands, nor for those that it delegates to
#   messages     = 40       # how many of the last messages it is shown; all, in runs of channels 20
#   temperature  = 0.1
#   max_tokens   = 2000     # of one answer
#   reasoning    = "high"   # how much it thinks: off, low, medium or high
#   busy         = "refuse" # a second prompt; else "queue"
#   dialect      = "tags"   # how its model writes calls: tools is native calling; tags in its text need no model that can do that
#   view         = "transcript" # what it is shown; or "packet": the entries of the run at their levels, see docs/packet.md
#   without_view = "interactive" # its mode where workspace is not possible; else restricted
#
#   finish { # what it must hand back; without it a plain answer ends the work
#     schema = { # a JSON Schema of an object; its JSON as a text is taken too
#       type       = "object"
#       properties = { verdict = { type = "string", enum = ["good", "bad"] }, tests_verified = { type = "boolean" } }
#       required   = ["verdict"]
#     }
#     prove     = ["tests"] # proofs of what it claims: tests (of tests_verified), citations
#     validator = "judge"   # the plugin of the kind agent that judges it
#   }
# }
#
# A team plans a prompt, gives its parts to agents and puts together what they come to.
# It is chosen as an agent is; "auto" is the team of all agents:
#
# team "release" {
#   description = "Prepares a release."
#   agents      = ["reviewer", "default"]
#   mode        = "sequential" # one after the other, each with what came before; else parallel
#   planner     = "fast"    # the model that plans; without it that of the prompt
#   model       = "fast"    # the model that puts together; without it that of the agent "default"
#   persona     = "You prepare releases."
#   synthesis   = { # a JSON Schema of what the team hands back; without it an answer in plain text
#     type       = "object"
#     properties = { summary = { type = "string" } }
#     required   = ["summary"]
#   }
# }
agent "default" {
  tools = ["*"]
}

agent "chat" {
  tools        = ["*"]
  without_view = "interactive" # where mode workspace is not possible: you are there to be asked
}

# Two agents that hand a result over, and prove what it claims; a result without proof
# is refused. `bothy run --agent engineering "fix the failing test"`.
agent "engineering" {
  description  = "Changes the code of a project, and proves by its tests that it works."
  capabilities = ["code", "fix", "implement", "refactor", "test", "debug"]
  tools        = ["*"]
  persona      = <<-EOT
    You are an engineer who works in the project at hand. Find out how it is built and what its tests say before you change anything.
    Make the smallest change that does what was asked, in the style of what is there, and mend causes rather than symptoms. Never make a
    test pass by weakening it, unless the test itself is what is wrong.
    Run the tests by run_tests, after your last change too. When they pass, hand the result over by finish_task: what you changed and why, and
    which files. When they cannot be made to pass, say so in plain words instead of claiming it.
  EOT

  finish {
    schema = {
      type = "object"
      properties = {
        summary        = { type = "string", minLength = 1, description = "what was wrong or asked for, and what was done" }
        tests_verified = { type = "boolean", description = "run_tests passed after the last change" }
        artifacts      = { type = "array", items = { type = "string" }, description = "the files that were changed or made" }
        next_steps     = { type = "array", items = { type = "string" } }
        notes          = { type = "string" }
      }
      required             = ["summary", "tests_verified"]
      additionalProperties = false
    }
    prove = ["tests"]
  }
}

agent "research" {
  description  = "Finds something out, and cites where each finding comes from. It changes nothing."
  capabilities = ["research", "find", "compare", "explain", "sources"]
  tools        = ["read_file", "list_files", "find_files", "grep", "diff_files", "use_skill", "web_search", "web_fetch", "mcp__*"]
  persona      = <<-EOT
    You find things out. Read before you claim anything: the files of the project, and what the tools that reach elsewhere give you.
    Cite where each finding comes from, with the address that you really opened and the time at which you did. Say what you could not
    find out, and what contradicts itself. When you are done, hand the result over by finish_task.
  EOT

  finish {
    schema = {
      type = "object"
      properties = {
        executive_summary = { type = "string", minLength = 1, description = "the answer in a few sentences" }
        key_findings      = { type = "array", items = { type = "string" } }
        citations = {
          type = "array"
          items = {
            type = "object"
            properties = {
              url   = { type = "string", description = "an address that was fetched in this work" }
              claim = { type = "string", description = "what it is cited for" }
              time  = { type = "string", description = "when it was fetched" }
            }
            required             = ["url", "claim", "time"]
            additionalProperties = false
          }
        }
        gaps  = { type = "array", items = { type = "string" }, description = "what could not be found out" }
        notes = { type = "string" }
      }
      required             = ["executive_summary"]
      additionalProperties = false
    }
    prove = ["citations"]
  }
}
