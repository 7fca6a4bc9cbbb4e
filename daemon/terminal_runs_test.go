//go:build linux

package daemon

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bothy calls bothy in the project, and returns what it printed.
func (s *seat) bothy(args ...string) string {
	s.t.Helper()
	out, err := s.tries(args...)
	if err != nil {
		s.t.Fatalf("bothy %v: %v: %s", args, err, out)
	}
	return out
}

// TestConversationPages: everything of a run is shown in a pager, which scrolls, searches
// and leaves the conversation as it was; what finishes meanwhile is printed after it.
func TestConversationPages(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.sit()
	s.until("> What")
	s.keys("reason because of the needle\r")
	s.until("so it is", "> What")
	s.rests()
	s.write("shop/long.txt", strings.Repeat("a row of the file\n", 50)+"the last row\n")
	s.keys("call read_file {\"path\":\"long.txt\"}\r")
	s.until("(2 turns, 1 action")
	s.rests()
	s.keys("\x0f")
	s.until("run chat-1", "because of the needle", "q leaves")
	s.keys("G")
	s.until("100%")
	s.keys("/Needle\r")
	s.until("nowhere: Needle")
	s.keys("/needle\r")
	s.until("found 1 of", "because of the needle")
	s.keys("n")
	s.until("found 2 of")
	s.keys("g")
	s.until("1 > reason")
	s.keys("q")
	s.until("> What", "(2 turns, 1 action")
	s.keys("slow\r")
	s.until("tick")
	s.keys("\x0f")
	s.until("q leaves")
	s.bothy("runs", "abort", "chat-1")
	s.keys("q")
	s.until("aborted by a person", "> What")
	s.keys("/show\r")
	s.until("run chat-1", "q leaves")
	s.keys("q")
	s.until("> What")
}

// TestConversationShowsAllThatWouldRun: a question that is longer than the screen is
// answered only once its end was shown.
func TestConversationShowsAllThatWouldRun(t *testing.T) {
	s := newSeat(t, 80, 20)
	s.env = append(s.env, "BOTHY_POLICY_MODE=interactive")
	s.sit()
	s.until("> What")
	s.keys(`call write_file {"path":"a.txt","content":"` + strings.Repeat(`one more row\n`, 60) + `the end of it"}` + "\r")
	s.until("y shows all first", "d shows all of it")
	s.keys("y")
	s.until("what would run", "q leaves")
	s.keys("q")
	s.until("y shows all first")
	s.keys("y")
	s.until("q leaves")
	if _, err := os.Stat(filepath.Join(s.dir, "a.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("it ran before all of it was shown: %v", err)
	}
	s.keys("G")
	s.until("the end of it", "all shown")
	s.keys("q")
	s.until("y once")
	s.keys("y")
	s.until("✓ write_file")
}

// TestConversationGoesToRuns: one goes from run to run; what works goes on, and what other
// runs do is told above the input.
func TestConversationGoesToRuns(t *testing.T) {
	s := newSeat(t, 100, 30)
	s.env = append(s.env, "BOTHY_POLICY_MODE=interactive")
	s.sit()
	s.until("> What")
	s.keys("the apple of the first\r")
	s.until("you said: the apple")
	s.rests()
	s.keys("slow\r")
	s.until("tick tick", "esc ends it")
	s.keys("/new\r")
	s.until("chat-1 goes on working", "a new run", "chat-1 works")
	s.keys("the pear of the second\r")
	s.until("you said: the pear")
	s.rests()
	s.keys("/rename pears\r")
	s.until("this run is pears now")
	s.keys("call write_file {\"path\":\"a.txt\",\"content\":\"x\"}\r")
	s.until("y once")
	s.keys("\x1b")
	s.until("left open")
	s.keys("/resume chat-1\r")
	s.until("run chat-1", "the apple", "tick", "pears asks", "alt-r answers")
	s.keys("\x1b")
	s.until("aborted by a person")
	s.keys("\x1br") // alt-r
	s.until("run pears", "y once")
	s.keys("y")
	s.until("✓ write_file", "the tool said")
	s.rests()
	s.keys("/runs\r")
	s.until("runs of ~/shop", "2 of 2", "pears", "chat-1")
	s.keys("apple")
	s.until("1 of 1", "you said: the apple")
	s.keys("\r")
	s.until("run chat-1", "you said: the apple", "> What")
	s.keys("/fork\r")
	s.until("run chat-2  agent")
	s.keys("what now\r")
	s.until("you said: what now")
	s.rests()
	s.keys("\x04")
	s.gone()
	s.until("comes back")
	if rows := s.bothy("journal", "--run", "chat-2"); !strings.Contains(rows, "run.rested") {
		t.Errorf("the run that was left does not rest:\n%s", rows)
	}
}

// TestConversationPicksFirst: bothy-terminal --pick begins with the runs; esc there begins a
// new one.
func TestConversationPicksFirst(t *testing.T) {
	s := newSeat(t, 60, 24)
	s.sit()
	s.until("> What")
	s.keys("remember the plum\r")
	s.until("you said: remember")
	s.rests()
	s.keys("/resume nosuchrun\r")
	s.until("runs of", "no run fits")
	s.keys("\x15plum")
	s.until("1 of 1", "remember the plum")
	s.keys("\x1b")
	s.until("> What")
	s.keys("\x04")
	s.gone()
	for _, key := range []string{"\x1b", "\r"} {
		socket := filepath.Join(strings.TrimPrefix(s.env[1], "XDG_RUNTIME_DIR="), "bothy", "bothy.sock")
		s.start(exec.Command(s.prefix("libexec", "bothy", "bothy-terminal"), "--socket", socket, "--project", s.dir, "--pick"))
		s.until("runs of ~/shop", "remember the plum")
		s.keys(key)
		screen := s.until("bothy 0", "> What")
		if key == "\r" {
			screen = s.until("you said: remember the plum")
		}
		if strings.Contains(screen, "you said") != (key == "\r") {
			t.Errorf("%q leads to\n%s", key, screen)
		}
		s.keys("\x04")
		s.gone()
	}
}

// TestConversationSummarizes: /compact has the model summarize what was said, and the prompt behind it is answered by the summary.
func TestConversationSummarizes(t *testing.T) {
	s := newSeat(t, 100, 30)
	s.sit()
	s.until("> What")
	s.keys("/compact\r")
	s.until("there is no run yet")
	s.keys("the apple of the first\r")
	s.until("you said: the apple")
	s.rests()
	s.keys("/compact\r")
	s.until("the model summarizes what was said", "you said: Summarize this conversation")
	s.rests()
	if got := s.bothy("entries", "get", "summary://2", "-r", "chat-1"); !strings.Contains(got, "you said: Summarize this conversation") {
		t.Errorf("the summary is %q", got)
	}
	s.keys("the pear behind it\r")
	s.until("you said: the pear")
	s.rests()
	if got := s.bothy("runs", "show", "chat-1", "--turn", "3", "--packet"); !strings.Contains(got, "Here you have summarized it") || strings.Contains(got, "apple") {
		t.Errorf("the model got %s", got)
	}
}

// TestConversationTakesBack: changes are shown, taken back and made again, by prompt and
// by path; more than one prompt's are asked about.
func TestConversationTakesBack(t *testing.T) {
	s := newSeat(t, 80, 24)
	s.sit()
	s.until("> What")
	for _, name := range []string{"one.txt", "two.txt"} {
		s.keys("call write_file {\"path\":\"" + name + "\",\"content\":\"text of " + name + "\"}\r")
		s.until("✓ write_file "+name, "the tool said")
		s.rests()
	}
	s.keys("/diff 1\r")
	s.until("added   one.txt +1", "+text of one.txt")
	s.keys("/diff file\r")
	s.until("files that this run changed", "2 of 2")
	s.keys("two\r")
	s.until("added   two.txt +1", "> What")
	s.keys("/undo one.txt\r")
	s.until("taken back: added   one.txt")
	if _, err := os.Stat(filepath.Join(s.dir, "one.txt")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	s.keys("/redo\r")
	s.until("made again: added   one.txt")
	s.keys("/undo\r")
	s.until("Take back what this run changed?", "y yes")
	s.keys("n")
	s.until("nothing was done")
	s.keys("/undo\r")
	s.until("y yes")
	s.keys("y")
	s.until("taken back: added   two.txt")
	s.keys("/undo nosuch\r")
	s.until("changed no file")
	s.keys("/diff 9\r")
	s.until("has no prompt 9")
	s.keys("/redo\r")
	s.until("Make this again?", "y yes")
	s.keys("d")
	s.until("changes", "q leaves")
	s.keys("q")
	s.until("y yes")
	s.keys("y")
	s.until("made again: added   two.txt")
	s.write("shop/two.txt", "what a person wrote")
	s.keys("/undo 2\r")
	s.until("nothing of it can be changed back now")
	s.keys("/undo\r")
	s.until("1 file stay", "y yes")
	s.keys("y")
	s.until("taken back: added   one.txt", "left as it is: added   two.txt")
	s.keys("/undo turn x\r")
	s.until("say a prompt by its number")
}

// TestConversationCommands: what the commands say that only tell something.
func TestConversationCommands(t *testing.T) {
	s := newSeat(t, 100, 40)
	s.write("shop/.bothy/skills/greet/SKILL.md", "---\nname: greet\ndescription: Greets.\n---\nSay hello.\n")
	s.sit()
	s.until("> What")
	s.keys("/usage\r")
	s.until("there is no run yet")
	s.keys("join ```go\x1b\rfmt.Println(1)\x1b\r```\r")
	s.until("finished", "> What")
	s.rests()
	for _, step := range [][]string{
		{"/usage\r", "context"},
		{"/status\r", "project", "~/shop", "/usage tells more"},
		{"/config\r", "config.hcl", "nothing is wrong"},
		{"/tools\r", "use_skill", "read_file", "only reads"},
		{"/model nosuch\r", "there is no model nosuch; there are"},
		{"/model\r", "models", "2 of 2"}, {"parr\r", "the next prompt goes to parrot"},
		{"/agent\r", "agents"}, {"chat\r", "is for agent chat"},
		{"/mode full\r", "there is no mode full; there are interactive"},
		{"/mode\r", "modes", "3 of 3"}, {"inter\r", "has mode interactive"},
		{"/copy 9\r", "no code block"},
		{"/copy\r", "copied the last answer"},
		{"/export\r", "written to ~/shop/chat-1.md"},
		{"/export\r", "is there already"},
		{"/trust\r", "Trust skill greet as it is?", "y yes"}, {"d", "Say hello.", "q leaves"}, {"q", "y yes"}, {"y", "skill greet is trusted"},
		{"/skills\r", "skills", "enter takes"}, {"greet\r", "> /greet"},
	} {
		s.keys(step[0])
		s.until(step[1:]...)
	}
}
