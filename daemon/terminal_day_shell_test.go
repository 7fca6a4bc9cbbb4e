//go:build linux

package daemon

import (
	"os"
	"path/filepath"
	"strings"
)

// scripts is bothy without a conversation.
func (d *day) scripts() {
	d.step("what is piped in goes with the prompt", func() {
		d.shell("cat err.log | bothy run 'explain this'", "you said: explain this", "panic: index out of range")
		d.shell("bothy run -c 'and this'", "you said: and this")
		d.shell("bothy runs show --last | tail -20", "prompt 2: and this")
	})
	d.step("without a terminal a fix is tested, too", func() {
		d.shell("sed -i s/100/10/ calc.py; bothy run -q 'fix the failing test' </dev/null 2>&1 | cat", "The test passes now.")
		d.holds("calc.py", "discount / 100\n")
	})
	d.step("the README says what is written unasked, and it is so", func() {
		d.shell("bothy run --mode restricted -q 'write the notes' </dev/null", "The notes are written.")
		d.holds("notes.txt", "a note\n")
		text, err := os.ReadFile("../README.md")
		if err != nil || !strings.Contains(string(text), "what writes files of the project and nothing else (`--mode restricted`)") {
			d.t.Errorf("the README does not say it, %v", err)
		}
	})
	d.step("a skill that came with the project is told of once", func() {
		d.write("shop/.claude/skills/theirs/SKILL.md", "---\nname: theirs\ndescription: Theirs.\n---\nSay so.\n")
		d.shell("until bothy skills list -a --json 2>&1 | grep -q theirs; do sleep 0.1; done")
		d.shell("bothy run hello", "not trusted", "you said: hello")
		d.lacks(d.shell("bothy run hello", "you said: hello"), "not trusted")
	})
	d.step("a command has two minutes where it names no time", func() {
		d.shell("bothy config show | grep sandbox.timeout", "2m")
	})
	d.step("a mistake in the configuration is told by every verb", func() {
		d.write(".config/bothy/config.hcl", dayConfig+"polizy {\n  deny = [\"git push\"]\n}\n")
		d.shell("bothy config reload", "polizy")
		d.shell("bothy run -q hello", "config.hcl:8", "polizy", "not in force", "you said: hello")
		d.write("shop/.bothy/config.hcl", "policy {\n  denny = [\"git push\"]\n}\n")
		d.shell("bothy run -q hello", "and 1 more", "you said: hello")
		d.write(".config/bothy/config.hcl", dayConfig)
		if err := os.RemoveAll(filepath.Join(d.dir, ".bothy")); err != nil {
			d.t.Fatal(err)
		}
		d.shell("bothy config reload")
		d.lacks(d.shell("bothy run -q hello", "you said: hello"), "not in force")
	})
	d.step("nobody is waited for where nobody is there", func() {
		d.shell("bothy run --yolo 'ask for the network' </dev/null; echo exit $?", "I go on without it.", "exit 0")
	})
	d.step("every line of chat is an object with --json", func() {
		d.shell("echo hello | bothy chat --json", `{"run":"chat-`, `"answer":"you said: hello"`)
	})
}

// looksBack is what one asks in the evening.
func (d *day) looksBack() {
	d.step("a call is explained by the name that is shown", func() {
		d.shell("bothy runs show careful | head -40", "turn_2/bash/call")
		d.shell("bothy explain careful turn_2/bash/call", "decided")
	})
	d.step("a run that a guard stopped is called so", func() {
		d.lacks(d.shell("bothy runs list", "chat-2", "careful"), "aborted")
	})
	d.step("the manual is a page", func() {
		d.lacks(d.shell("bothy man run", "NAME"), ".TH", ".SH")
	})
	d.step("a skill is switched off and on without a trace", func() {
		d.shell("bothy skills disable greet", "greet")
		d.shell("bothy skills enable greet", "greet")
		if text, err := os.ReadFile(filepath.Join(d.home, ".config/bothy/config.hcl")); err != nil || string(text) != dayConfig {
			d.t.Errorf("left is %v:\n%s", err, text)
		}
	})
}
