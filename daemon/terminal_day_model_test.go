//go:build linux

package daemon

import "fmt"

// dayConfig has the two models of a day, and chooses the second.
const dayConfig = `provider "stub" {
  plugin   = "openai"
  base_url = env("MODEL_URL")
}
agent "default" {
  model = "stub/two"
}
`

// dayFiles are what there is in the morning, by the name in the home.
var dayFiles = map[string]string{
	".gitconfig":                          "[user]\n\tname = Ann Example\n\temail = ann@example.org\n",
	".npm/_cacache/proof":                 "a package of the home\n",
	"shop/calc.py":                        "def price(s, discount):\n    return s - s * discount / 10\n",
	"shop/test_calc.py":                   "import unittest\n\nfrom calc import price\n\n\nclass TestPrice(unittest.TestCase):\n    def test_discount(self):\n        self.assertEqual(price(200, 10), 180)\n",
	"shop/Makefile":                       "all: calc.py\n\tpython3 calc.py\n\nclean:\n\trm -rf build\n",
	"shop/noisy.sh":                       "seq 1 60\necho 'FAILED (failures=1)'\nexit 1\n",
	"shop/build/old.o":                    "old\n",
	"shop/err.log":                        "goroutine 1 [running]\npanic: index out of range\n",
	"shop/skills.md":                      "a text\n",
	".config/bothy/skills/greet/SKILL.md": "---\nname: greet\ndescription: greets whoever is there\n---\n\nSay hello.\n",
}

// read is a turn that reads a file.
func read(path string) played {
	return played{tool: "read_file", arguments: map[string]any{"path": path}}
}

// edit is a turn that changes a file.
func edit(path, from, to string) played {
	return played{tool: "edit_file", arguments: map[string]any{"path": path, "old_text": from, "new_text": to}}
}

// done is the last turn of a prompt.
func done(text string) played { return played{says: text} }

// plays are what the models of a day do, by the prompt.
func (d *day) plays() map[string][]played {
	fix := []played{bash("ls -la && git status --short"), bash("python3 -m unittest 2>&1 | tail -20"), read("calc.py"), read("test_calc.py"),
		edit("calc.py", "discount / 10", "discount / 100"), bash("python3 -m unittest -v 2>&1 | tail -20"), done("The test passes now.")}
	var long []played
	for n := range 12 {
		long = append(long, bash(fmt.Sprintf("sed -n %dp test_calc.py", n+1)))
	}
	return map[string][]played{
		"fix the failing test":     fix,
		"think hard please":        {{thinks: "The person wants me to think for long. ", until: d.gates["thinks"], rest: "I have thought."}},
		"write for long":           {{says: "It is half written …\n\n", until: d.gates["writes"], rest: "It is whole."}},
		"show me how it is drawn":  plays["markdown"],
		"look twice":               {bash("cat calc.py | head -3"), bash("cat calc.py | head -3"), done("I looked twice.")},
		"look for ever":            {bash("cat calc.py"), bash("cat calc.py"), bash("cat calc.py"), bash("cat calc.py"), bash("cat calc.py"), bash("cat calc.py")},
		"look for zzz":             {bash("false"), bash("ls nosuch"), bash("grep -c zzz calc.py"), bash("grep zzz calc.py"), done("There is no zzz.")},
		"read by whole paths":      {read("/workspace/calc.py"), read(d.dir + "/calc.py"), {tool: "list_files", arguments: map[string]any{"path": "/workspace"}}, done("I read it by whole paths.")},
		"use the names of others":  {{tool: "Bash", arguments: map[string]any{"command": "ls"}}, {tool: "read_file", arguments: map[string]any{"file_path": "calc.py"}}, done("I used other names.")},
		"take many turns":          append(long, done("I took many turns.")),
		"run the noisy test":       {bash("sh noisy.sh"), done("It fails.")},
		"change the Makefile":      {edit("Makefile", "\tpython3 calc.py", "\tpython3 -m calc"), done("The Makefile is changed.")},
		"change the Makefile back": {edit("Makefile", "python3 -m calc", "python3 calc.py"), done("The Makefile is as it was.")},
		"clean up":                 {bash("rm -rf build"), done("I do something else instead.")},
		"write the notes":          {{tool: "write_file", arguments: map[string]any{"path": "notes.txt", "content": "a note\n"}}, done("The notes are written.")},
		"use what is cached":       {bash(`cat "$HOME/.npm/_cacache/proof"`), done("It is there.")},
		"commit it":                {bash("git add -A && git commit -qm mended && git log -1 --format='%an <%ae>'"), done("It is committed.")},
		"wait in silence":          {bash("sleep 600"), done("It was long.")},
		"wait too long":            {{tool: "bash", arguments: map[string]any{"command": "sleep 600", "timeout_seconds": 1}}, done("It took too long.")},
		"serve it":                 {{tool: "bash", arguments: map[string]any{"command": "sleep 600", "background": true}}, done("It is served.")},
		"change it by a command":   {bash("sed -i 's/a note/another note/' notes.txt && echo new > new.txt"), done("Commands changed it.")},
		"ask for the network":      {{tool: "open_network", arguments: map[string]any{"reason": "to fetch"}}, done("I go on without it.")},
		"be cut off":               {{says: "This is half of", breaks: true}},
		"test it quietly":          {bash("python3 -m unittest -v"), done("It was tested.")},
		"test it again":            {bash("python3 -m unittest"), done("It was tested again.")},
	}
}
