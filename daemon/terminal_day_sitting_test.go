//go:build linux

package daemon

import (
	"strings"
	"testing"
)

// TestWorkingDay is a day of work at one terminal: a shell in a project with tests, and
// bothy in it, from the first contact to the last look at what was done.
func TestWorkingDay(t *testing.T) {
	needPodman(t)
	d := newDay(t)
	d.firstContact()
	d.types()
	d.works()
	d.comesBack()
	d.asksFirst()
	d.scripts()
	d.looksBack()
	d.step("the shell ends", func() { // a bash that is about to read may not heed a closed window before the next key
		d.keys("exit\r")
		d.gone()
	})
}

// firstContact is what one types who knows other tools.
func (d *day) firstContact() {
	d.step("the version is told", func() {
		d.shell("bothy --version", "bothy 0.")
		d.shell("bothy version", "bothy 0.")
	})
	d.step("without a model it is said how to get one", func() {
		d.lacks(d.shell("bothy -p hello", "no model answers here", "To get a model, do one of these"), "cassette")
	})
	d.write(".config/bothy/config.hcl", dayConfig)
	d.step("a configuration is in force without a start", func() {
		d.shell("bothy config reload && bothy models", "stub/two") // the daemon may have read it by itself by then
		d.shell("bothy -p hello", "you said: hello")
		d.shell("bothy exec hello", "you said: hello")
	})
	d.step("words of other tools lead to the verb", func() {
		for word, want := range map[string]string{
			"login": "name a provider", "init": "bothy config init", "mcp": "bothy mcp import", "export": "bothy runs show --json", "upgrade": "bothy stop", "agents": "bothy",
			"runs shwo": "list, show", "runs delete nosuch --yes": "nosuch", "policy list": "rules", "sessions": "default-",
		} {
			d.lacks(d.shell("bothy "+word, want), "did you mean \"man\"")
		}
	})
}

// types is the first conversation: the line, the history, pastes, files, commands.
func (d *day) types() {
	d.step("the first screen says what there is, with the model of the agent default", func() {
		d.opens("bothy", "bothy 0.", "~/shop", "stub/two", "/help shows")
		d.says("which model are you", "the model is two")
	})
	d.step("the line is edited, and what was typed is there again", func() {
		d.keys("helo\x1b[Dl")
		d.until("> hello")
		d.keys("\x05\x15\x1b[A") // nothing of it is left to come back
		d.until("\n> which model are you")
		d.keys("\x15")
		d.until("> What")
	})
	d.step("a paste of three lines is one prompt", func() {
		d.keys(pasted("pasted one\npasted two\npasted three"))
		d.until("> pasted one\n  pasted two\n  pasted three")
		d.lacks(d.says("", "you said: pasted one"), "you said: pasted two")
	})
	d.step("a backslash at the end goes on, and tab is no character", func() {
		d.keys("one\\\rtwo\t")
		d.until("> one\n  two")
		d.keys("\x15\x7f\x15")
		d.until("> What")
	})
	d.step("a file behind an @ goes with the prompt", func() {
		d.keys("look at @calc")
		d.until("→ @calc.py")
		d.keys("\t")
		d.until("> look at @calc.py")
		d.keys("\r")
		d.ended("look at @calc.py", "s * discount / 10")
	})
	d.step("there are commands", func() {
		d.keys("/")
		d.until("→ /")
		d.keys("help\r")
		d.until("commands", "q leaves")
		d.keys("q")
		d.until("> What")
		d.keys("/modle\r")
		d.until("did you mean /model")
		d.keys("\x03")
		d.until("> What")
	})
	d.step("Markdown is drawn", func() {
		text := d.says("show me how it is drawn", "the manual")
		d.lacks(text, "# A heading", "**bold**", "|---|", "mid\ndle")
	})
	d.step("thinking is shown, with its time", func() {
		d.keys("think hard please\r")
		screen := d.until("wants me to think", "thinking", "esc ends it")
		if line := d.row("esc ends it"); !strings.Contains(line, "s") || !strings.ContainsAny(line, "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏") {
			d.t.Errorf("the line is %q:\n%s", line, screen)
		}
		d.keys("and then this\r")
		d.until("waits: and then this")
		close(d.gates["thinks"])
		d.until("thought for", "I have thought.")
		d.ended("and then this", "you said: and then this")
	})
	d.step("ctrl-c ends no conversation at once", func() {
		d.keys("half\x03")
		d.until("> What")
		d.leaves()
	})
}

// works is the work of the morning, in the mode that a conversation has by itself.
func (d *day) works() {
	d.opens("bothy", "/help shows")
	d.step("a failing test is mended without a question", func() {
		d.says("fix the failing test", "✓ edit_file calc.py", "The test passes now.", "6 actions")
		d.holds("calc.py", "discount / 100\n")
	})
	d.step("of a short difference all lines are shown", func() {
		d.shown("edit_file calc.py", "-    return s - s * discount / 10\n", "+    return s - s * discount / 100")
	})
	d.step("the same call twice goes on, and for ever is stopped", func() {
		d.says("look twice", "I looked twice.")
		d.keys("look for ever\r")
		d.shown("> look for ever", "stopped", "> What")
	})
	d.step("exit statuses end nothing", func() {
		d.says("look for zzz", "exit status 2", "There is no zzz.")
	})
	d.step("whole paths of the project are read", func() {
		d.lacks(d.says("read by whole paths", "I read it by whole paths."), "denied", "✗")
	})
	d.step("names of other tools end nothing", func() {
		d.says("use the names of others", "I used other names.")
	})
	d.step("a prompt takes many turns", func() {
		d.says("take many turns", "I took many turns.", "(13 turns, 12 actions")
	})
	d.step("of a long result the beginning and the end are shown", func() {
		d.says("run the noisy test", "│ 1\n", "FAILED (failures=1)", "exit status 1")
	})
	d.step("tabs are room", func() {
		d.says("change the Makefile", "│ +       python3 -m calc", "The Makefile is changed.")
	})
	d.step("a silent command shows its time, and esc ends it", func() {
		d.keys("wait in silence\r")
		d.until("sleep 600", "esc ends it")
		d.keys("\x1b")
		d.shown("> wait in silence", "aborted by a person", "> What")
	})
	d.step("a command that takes too long says so, and one goes on behind", func() {
		d.says("wait too long", "timed out after 1s", "It took too long.")
		d.says("serve it", "It is served.")
	})
	d.step("caches of the home are there", func() {
		d.says("use what is cached", "a package of the home", "It is there.")
	})
	d.step("a commit has the identity of the home", func() {
		d.says("write the notes", "The notes are written.")
		d.says("commit it", "Ann Example <ann@example.org>", "It is committed.")
	})
	d.step("an error of the server is told at once, with what to check", func() {
		d.keys("refuse\r")
		d.shown(" > refuse", "HTTP 401", "failed (", "> What")
	})
	d.step("a stream that breaks is no answer, and what came of it stands there", func() {
		d.keys("be cut off\r")
		d.shown(" > be cut off", "This is half of", "did not answer to the end", "failed (", "> What")
	})
}

// comesBack closes the window while an answer is written, and opens another.
func (d *day) comesBack() {
	d.step("who comes back sees the last prompts and the answer that is being written", func() {
		d.keys("write for long\r")
		d.until("It is half written")
		d.leaves()
		d.opens("bothy -c", "chat-2", "half written", "esc ends it")
		close(d.gates["writes"])
		d.ended("write for long", "half written", "It is whole.")
		d.leaves()
	})
	d.step("a run is chosen", func() {
		d.keys("\x0cbothy resume\r")
		d.lines++
		d.until("runs of ~/shop", "chat-2")
		d.keys("think hard")
		d.until("1 of 1", "chat-1")
		d.keys("\r")
		d.until("you said: and then this", "> What")
		d.leaves()
	})
}

// asksFirst is the same with a person who is asked about everything.
func (d *day) asksFirst() {
	d.step("what a run changed is taken back, also what commands changed", func() {
		d.opens("bothy", "/help shows")
		d.says("change it by a command", "Commands changed it.")
		d.says("change the Makefile back", "The Makefile is as it was.")
		d.leaves()
		d.shell("bothy diff", "-a note", "+another note", "+new", "python3 calc.py")
		d.shell("bothy undo --prompt 2 --yes", "took back 1 path of prompt 2", "Makefile")
		d.holds("Makefile", "python3 -m calc")
		d.shell("bothy undo --yes", "took back 2 paths", "notes.txt")
		d.holds("notes.txt", "a note")
		if d.file("new.txt") != "" {
			d.t.Error("new.txt is still there")
		}
		d.shell("bothy redo --yes", "again", "notes.txt")
		d.holds("notes.txt", "another note")
	})
	d.step("a failing test is mended with questions of five lines at most", func() {
		d.shell("git checkout -q HEAD~0 -- . && sed -i s/100/10/ calc.py")
		d.opens("bothy --mode interactive -r careful", "/help shows")
		d.keys("fix the failing test\r")
		d.asked("? python3 -m unittest 2>&1 | tail -20")
		d.keys("y")
		d.asked("? edit_file calc.py")
		d.keys("y")
		d.asked("? python3 -m unittest -v 2>&1 | tail -20")
		d.keys("y")
		d.ended("fix the failing test", "The test passes now.")
		d.holds("calc.py", "discount / 100\n")
	})
	d.step("a no with a reason goes on at once", func() {
		d.keys("clean up\r")
		d.asked("? rm -rf build")
		d.keys("r")
		d.until("Why not?")
		d.keys("use make clean instead\r")
		d.ended("clean up", "use make clean instead", "I do something else instead.")
	})
	d.step("a call that a person changed is asked about as it is", func() {
		d.keys("write the notes\r")
		d.asked("? write_file notes.txt")
		d.keys("e")
		d.until("What shall run?")
		d.keys("\x15\x7f\x15\x7f\x15\x7f\x15\x7f{\"path\":\"other.txt\",\"content\":\"other\"}\r")
		d.lacks(d.asked("? write_file other.txt"), "null")
		d.keys("y")
		d.ended("write the notes", "The notes are written.")
	})
	d.step("what is remembered covers the command without the options of its output", func() {
		d.keys("test it quietly\r")
		d.asked("? python3 -m unittest -v")
		d.keys("a")
		d.until("From now on", "1 always allow", "2 always allow")
		d.keys("2")
		d.ended("test it quietly", "remembered as rule", "It was tested.")
		d.says("test it again", "It was tested again.")
		d.leaves()
	})
}
