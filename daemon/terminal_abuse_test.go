//go:build linux

package daemon

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/gdamore/tcell/v3/vt"
	"golang.org/x/sys/unix"
)

// roll is a seat whose terminal keeps what was scrolled away, with a model that says what
// the test has it say.
type roll struct {
	*seat
	to      atomic.Pointer[os.File]  // the pty, for what the emulator answers
	mute    bool                     // the terminal answers nothing
	inFrame bool                     // a frame was not read to its end
	frames  int                      // that were read
	kept    []string                 // lines that were scrolled away
	doubts  []string                 // screens on which something stood twice
	asks    chan chan func(sse) bool // what each request does
	asked   chan func(sse) bool      // the request that is answered; nil when the next is waited for
}

// newRoll makes a seat with such a terminal and model, and starts nothing yet.
func newRoll(t *testing.T, columns, rows int) *roll {
	t.Helper()
	r := &roll{seat: newSeat(t, columns, rows), asks: make(chan chan func(sse) bool, 100)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"object":"list","data":[{"id":"parrot","object":"model"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		asked := make(chan func(sse) bool)
		r.asks <- asked
		for {
			select {
			case do := <-asked:
				if do(sse{w: w, r: req}) {
					return
				}
			case <-req.Context().Done():
				return
			}
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	r.env = append(r.env, "MODEL_URL="+server.URL+"/v1", "BOTHY_POLICY_MODE=full", "BOTHY_POLICY_ALLOW_DANGEROUS=true")
	return r
}

// does has the model do something, once it is asked.
func (r *roll) does(do func(sse) (ends bool)) {
	r.t.Helper()
	limit := time.After(time.Minute)
	if r.asked == nil {
		select {
		case r.asked = <-r.asks:
		case <-limit:
			r.t.Fatalf("nobody asks the model:\n%s", r.screen())
		}
	}
	select {
	case r.asked <- do:
	case <-limit:
		r.t.Fatalf("nobody hears the model:\n%s", r.screen())
	}
}

func (r *roll) says(text string) {
	r.t.Helper()
	r.does(func(s sse) bool { s.text(text); return false })
}

func (r *roll) thinks(text string) {
	r.t.Helper()
	r.does(func(s sse) bool { s.delta(map[string]any{"reasoning_content": text}, ""); return false })
}

// ends ends the answer.
func (r *roll) ends() {
	r.t.Helper()
	r.does(func(s sse) bool { s.end("stop"); return true })
	r.asked = nil
}

// calls has the model call a tool so many times at once.
func (r *roll) calls(tool string, arguments ...any) {
	r.t.Helper()
	r.does(func(s sse) bool {
		for i, a := range arguments {
			text, err := json.Marshal(a)
			if err != nil {
				return true // these always marshal
			}
			s.call(map[string]any{"index": i, "id": fmt.Sprint("c", i), "type": "function", "function": map[string]any{"name": tool, "arguments": string(text)}})
		}
		s.end("tool_calls")
		return true
	})
	r.asked = nil
}

// start starts a program on the terminal: bothy without arguments.
func (r *roll) start(program string, args ...string) {
	r.t.Helper()
	if r.term == nil {
		r.term = vt.NewMockTerm(vt.MockOptSize(r.size))
		if err := r.term.Start(); err != nil {
			r.t.Fatal(err)
		}
		r.t.Cleanup(func() { _ = r.term.Stop() })
		defer func() { go r.answer() }()
	}
	r.drawn, r.ended = make(chan struct{}), make(chan struct{})
	r.cmd = exec.Command(program, args...)
	if program == "bothy" {
		r.cmd.Path, r.cmd.Err = filepath.Join(strings.TrimPrefix(r.env[2], "BOTHY_PREFIX="), "bin", "bothy"), nil
	}
	r.cmd.Dir, r.cmd.Env = r.dir, r.env
	var err error
	if r.pty, err = pty.StartWithSize(r.cmd, &pty.Winsize{Cols: uint16(r.size.X), Rows: uint16(r.size.Y)}); err != nil {
		r.t.Fatal(err)
	}
	r.to.Store(r.pty)
	go r.draw(r.pty, r.cmd, r.ended)
	ended := r.ended
	cmd := r.cmd
	hangUp := syscall.SIGHUP
	if program != "bothy" { // a shell of tests that nohup runs does not heed it; what it started gets it from the kernel
		hangUp = syscall.SIGKILL
	}
	r.t.Cleanup(func() {
		_ = cmd.Process.Signal(hangUp)
		<-ended
	})
}

// begins starts bothy and gives it a prompt.
func (r *roll) begins(prompt string) {
	r.t.Helper()
	r.start("bothy")
	r.until("/help shows", "> What")
	r.keys(prompt + "\r")
}

// keys types. A terminal that answers nothing is still typed at.
func (r *roll) keys(text string) {
	r.t.Helper()
	if !r.mute {
		r.seat.keys(text)
		return
	}
	if _, err := r.to.Load().WriteString(text); err != nil {
		r.t.Fatal(err)
	}
}

// answer gives the program what the emulator answers, until that ends.
func (r *roll) answer() {
	buf := make([]byte, 1<<10)
	for {
		n, err := r.term.Read(buf)
		if err != nil {
			return
		}
		if r.mute {
			continue
		}
		_, _ = r.to.Load().Write(buf[:n]) // a program that has ended needs no answer
	}
}

// draw gives the emulator what the program writes, keeps the lines that scroll away, and
// looks at the screen whenever the terminal would show it: not in the middle of a frame.
func (r *roll) draw(from *os.File, cmd *exec.Cmd, ended chan struct{}) {
	buf := make([]byte, 256<<10)
	recent := ""
	for {
		n, err := from.Read(buf)
		r.mu.Lock()
		recent += string(buf[:n])
		if begins, ends := strings.LastIndex(recent, "\x1b[?2026h"), strings.LastIndex(recent, "\x1b[?2026l"); begins != ends {
			r.inFrame = begins > ends
		}
		recent = recent[max(0, len(recent)-7):]
		for _, piece := range regexp.MustCompile(`(?s)\x1b\[\?2026l|\n|[^\n\x1b]+|\x1b`).FindAll(buf[:n], -1) {
			if string(piece) == "\n" && r.term.Pos().Y == r.size.Y-1 {
				r.kept = append(r.kept, r.row(0))
			}
			_, _ = r.term.Write(piece)
			if len(piece) > 6 && piece[0] == '\x1b' {
				r.frames++
				r.look()
			}
		}
		if !r.inFrame {
			r.look()
		}
		close(r.drawn)
		r.drawn = make(chan struct{})
		r.mu.Unlock()
		if err != nil {
			break
		}
	}
	_ = cmd.Wait()
	_ = from.Close()
	close(ended)
}

// mark is what stands once in a text: the tests' texts are made of such words.
var mark = regexp.MustCompile(`mark[0-9]+`)

// look notes a screen on which a mark stands twice.
func (r *roll) look() {
	seen := map[string]bool{}
	for y := vt.Row(0); y < r.size.Y; y++ {
		for _, m := range mark.FindAllString(r.row(y), -1) {
			if seen[m] && len(r.doubts) < 3 {
				r.doubts = append(r.doubts, m+" stands twice:\n"+r.rows())
				return
			}
			seen[m] = true
		}
	}
}

func (r *roll) row(y vt.Row) string {
	var b strings.Builder
	for x := vt.Col(0); x < r.size.X; x++ {
		if c := r.term.GetCell(vt.Coord{X: x, Y: y}).C; c != "" {
			b.WriteString(c)
		} else {
			b.WriteByte(' ')
		}
	}
	return strings.TrimRight(b.String(), " ")
}

func (r *roll) rows() string {
	var lines []string
	for y := vt.Row(0); y < r.size.Y; y++ {
		lines = append(lines, r.row(y))
	}
	return strings.Join(lines, "\n")
}

// paper is all that the terminal has: what was scrolled away, and the screen.
func (r *roll) paper() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(append(r.kept[:len(r.kept):len(r.kept)], r.rows()), "\n")
}

// once checks that the marks from one to another stand there once each and in order, and
// that none ever stood twice.
func (r *roll) once(from, to int) {
	r.t.Helper()
	paper := r.paper()
	var want []string
	for i := from; i <= to; i++ {
		want = append(want, fmt.Sprintf("mark%d", i))
	}
	if got := mark.FindAllString(paper, -1); strings.Join(got, " ") != strings.Join(want, " ") {
		if len(paper) > 6000 {
			paper = paper[:3000] + "\n[...]\n" + paper[len(paper)-3000:]
		}
		r.t.Errorf("want mark%d to mark%d once each, got %v:\n%s", from, to, got, paper)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.doubts {
		r.t.Error(d)
	}
}

// resize makes the window another size. As in a terminal that does not break lines anew,
// lines are cut at the right, and what no longer fits scrolls away at the top.
func (r *roll) resize(columns, rows int) {
	r.t.Helper()
	r.resizeAs(columns, rows, func(lines []string, at vt.Coord) ([]string, vt.Coord) { return lines, at })
}

// rewrap makes the window narrower. As in a terminal that breaks lines anew, what no longer
// fits on a line goes on on the next one, and the cursor stays on its character.
func (r *roll) rewrap(columns int) {
	r.t.Helper()
	r.resizeAs(columns, int(r.size.Y), func(lines []string, at vt.Coord) (all []string, now vt.Coord) {
		for y, line := range lines {
			if vt.Row(y) == at.Y {
				now = vt.Coord{X: at.X % vt.Col(columns), Y: vt.Row(len(all)) + vt.Row(at.X)/vt.Row(columns)}
			}
			text := []rune(line)
			for len(text) > columns {
				all, text = append(all, string(text[:columns])), text[columns:]
			}
			all = append(all, string(text))
		}
		return all, now
	})
}

// resizeAs makes the window another size, as the terminal has it. What it makes of the rows
// may be more than fit: those below the cursor are blank then, or none would be.
func (r *roll) resizeAs(columns, rows int, broken func(lines []string, at vt.Coord) ([]string, vt.Coord)) {
	r.t.Helper()
	r.mu.Lock()
	// A terminal would have read at once what is under way.
	for frames := r.frames; r.working() && r.frames < frames+2 || r.inFrame; {
		drawn := r.drawn
		r.mu.Unlock()
		<-drawn
		r.mu.Lock()
	}
	// A frame between the breaking and the signal that tells of it goes astray with any
	// program, so none is written meanwhile, however busy the machine is.
	if err := r.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = r.cmd.Process.Signal(syscall.SIGCONT) }() // it has not ended: it was stopped
	lines, at := broken(strings.Split(r.rows(), "\n"), r.term.Pos())
	if over := int(at.Y) - rows + 1; over > 0 {
		r.kept, lines, at.Y = append(r.kept, lines[:over]...), lines[over:], vt.Row(rows-1)
	}
	r.size = vt.Coord{X: vt.Col(columns), Y: vt.Row(rows)}
	r.term.SetSize(r.size)
	var b strings.Builder
	for y, line := range lines[:min(len(lines), rows)] {
		fmt.Fprintf(&b, "\x1b[%dH%s", y+1, string([]rune(line)[:min(len([]rune(line)), columns)]))
	}
	fmt.Fprintf(&b, "\x1b[%d;%dH", at.Y+1, at.X+1)
	_, _ = r.term.Write([]byte("\x1b[2J" + b.String()))
	r.mu.Unlock()
	if err := pty.Setsize(r.pty, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		r.t.Fatal(err)
	}
}

// working reports whether frames come by themselves.
func (r *roll) working() bool { return strings.Contains(r.rows(), "esc ends it") }

// marked are paragraphs with marks.
func marked(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "A paragraph with mark%d in it.\n\n", i)
	}
	return b.String()
}

// most is how much memory the terminal has had at most, in MiB.
func (r *roll) most() int {
	r.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
	if err != nil {
		r.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		r.t.Fatal(err)
	}
	return n >> 10
}

// TestConversationPrintsOnce: of an answer that is longer than the screen each paragraph
// stands there once, in order, while it is written and after.
func TestConversationPrintsOnce(t *testing.T) {
	r := newRoll(t, 60, 16)
	r.begins("go")
	for i := 1; i < 40; i += 3 {
		r.says(marked(i, i+2))
		r.until(fmt.Sprintf("mark%d ", i+2), "esc ends it")
	}
	r.says("```go\nfunc mark40() {\n\n")
	r.until("  func mark40", "esc ends it")
	r.says("}\n```\n- mark41\n- mark42\n")
	r.ends()
	r.until("mark42", "finished")
	r.rests()
	r.once(1, 42)
	r.keys("next\r")
	r.says(marked(43, 44))
	r.until("mark44")
	r.ends()
	r.until("finished")
	r.rests()
	r.once(1, 44)
}

// TestConversationUnanswered: a terminal that answers no query shows the same.
func TestConversationUnanswered(t *testing.T) {
	r := newRoll(t, 60, 16)
	r.mute = true
	r.begins("go")
	for i := 1; i < 40; i += 3 {
		r.says(marked(i, i+2))
		r.until(fmt.Sprintf("mark%d ", i+2), "esc ends it")
	}
	r.ends()
	r.until("finished")
	r.rests()
	r.doubts = nil // a frame comes in pieces
	r.once(1, 39)
	r.keys("\x04")
	r.gone()
}

// TestConversationAnswersAnew: where the model is asked again what was printed counts, if
// it says the same, and else a line says that it does not.
func TestConversationAnswersAnew(t *testing.T) {
	for _, same := range []bool{true, false} {
		t.Run(fmt.Sprint(same), func(t *testing.T) {
			r := newRoll(t, 60, 16)
			r.start("bothy")
			r.until("> What")
			r.keys("go\r")
			r.says(marked(1, 20))
			r.until("mark20 ")
			r.killDaemon()
			r.asked = nil
			if same {
				r.says(marked(1, 22))
				r.until("mark22 ")
				r.ends()
				r.until("finished")
				r.rests()
				r.once(1, 22)
				return
			}
			r.says("Another text.\n\n" + marked(31, 50))
			r.until("mark50 ")
			r.ends()
			r.until("finished")
			r.rests()
			paper := r.paper()
			_, after, is := strings.Cut(paper, "answered otherwise")
			if got := mark.FindAllString(after, -1); !is || len(got) != 20 || !strings.Contains(after, "Another text") {
				t.Errorf("%d marks behind the line:\n%s", len(got), paper)
			}
		})
	}
}

// TestConversationResized: a window that becomes narrower, wider, tiny and large again
// while a text is written has each paragraph once.
func TestConversationResized(t *testing.T) {
	r := newRoll(t, 80, 20)
	r.begins("go")
	last := 0
	for _, size := range [][2]int{{80, 20}, {50, 20}, {120, 30}, {40, 8}, {80, 20}, {120, 15}} {
		r.resize(size[0], size[1])
		r.says(marked(last+1, last+12))
		last += 12
		r.until(fmt.Sprintf("mark%d ", last), "esc ends it", "> What")
	}
	r.ends()
	r.until("finished")
	r.rests()
	r.once(1, last)
	r.keys("tiny\r")
	r.says("mark61 is a text that is longer than the window.\n\nand mark62 in it, ")
	r.until("mark62 ")
	r.resize(10, 5)
	r.until("> What")
	r.says("goes on")
	r.ends()
	r.until("1 turn,")
	r.resize(80, 20)
	r.keys("/tools\r") // with the next one more lines than the window has
	r.until("use_skill")
	r.keys("/status\r")
	screen := r.until("/usage tells more", "> What")
	if n := strings.Count(screen, "> What"); n != 1 {
		t.Errorf("the input stands there %d times:\n%s", n, screen)
	}
}

// TestConversationRewrapped: a terminal that breaks its lines anew keeps nothing of the frame
// before, whose lines were longer.
func TestConversationRewrapped(t *testing.T) {
	r := newRoll(t, 90, 24)
	r.env = append(r.env, "VTE_VERSION=7600")
	r.begins("go")
	r.says("mark1 is a text that is longer than half of the window is wide, and so it is broken there, before mark2 comes, ")
	r.until("mark2 ", "esc ends it")
	for _, drawn := range []struct {
		columns int
		anew    string // stands on one line once it is drawn for them
	}{{70, "so it is broken"}, {50, "window is wide"}, {30, "broken there, before"}} {
		r.rewrap(drawn.columns)
		r.until(drawn.anew, "> What")
	}
	r.says("and mark3")
	r.ends()
	r.until("mark3", "finished")
	r.rests()
	r.once(1, 3)
	if n := strings.Count(r.paper(), "> What"); n != 1 {
		t.Errorf("the input stands there %d times:\n%s", n, r.paper())
	}
}

// TestConversationResizedQuestion: a question and what is typed outlive another size of
// the window.
func TestConversationResizedQuestion(t *testing.T) {
	r := newRoll(t, 80, 20)
	r.env = append(r.env, "BOTHY_POLICY_MODE=interactive")
	r.begins("go")
	r.calls("write_file", map[string]string{"path": "a.txt", "content": "x"})
	r.until("y once")
	for _, x := range []struct {
		width, height int
		key           string // one that is on the screen then
	}{{40, 12, "a always"}, {10, 5, "later"}, {100, 30, "y once  a always  n no"}} { // the last is of no narrower frame: keys count
		r.resize(x.width, x.height)
		screen := r.until(x.key)
		if n := strings.Count(screen, x.key); n != 1 {
			t.Errorf("the question stands there %d times:\n%s", n, screen)
		}
	}
	r.keys("n")
	r.until("✗ write_file", "rejected by a person", "> What")
}

// TestConversationSuspended: ctrl-z gives the terminal back to the shell, and fg takes it
// again in the middle of a text.
func TestConversationSuspended(t *testing.T) {
	r := newRoll(t, 80, 20)
	r.start("bash", "-c", "set -m; bothy; echo SUSPENDED; read -r line; echo \"the shell read $line\"; fg; echo LEFT; read -r line")
	r.until("> What")
	r.keys("go\r")
	r.says(marked(1, 3))
	r.until("mark3 ")
	r.keys("\x1a")
	r.until("SUSPENDED")
	if !r.cooked() {
		t.Error("the terminal is not given back")
	}
	r.says(marked(4, 5))
	r.keys("a line\r")
	screen := r.until("the shell read a line", "mark5 ", "esc ends it", "> What")
	if r.cooked() {
		t.Error("the terminal is not taken again")
	}
	if n := strings.Count(screen, "> What"); n != 1 {
		t.Errorf("the input stands there %d times:\n%s", n, screen)
	}
	r.says(marked(6, 30))
	r.ends()
	r.until("finished")
	r.rests()
	r.keys("\x04")
	r.until("LEFT")
	if !r.cooked() {
		t.Error("the terminal is not given back at the end")
	}
	for i := 4; i <= 30; i++ {
		if n := strings.Count(r.paper(), fmt.Sprintf("mark%d ", i)); n != 1 {
			t.Errorf("mark%d stands there %d times:\n%s", i, n, r.paper())
		}
	}
}

// cooked reports whether the terminal is as a shell wants it.
func (r *roll) cooked() bool {
	r.t.Helper()
	m, err := unix.IoctlGetTermios(int(r.pty.Fd()), unix.TCGETS)
	if err != nil {
		r.t.Fatal(err)
	}
	return m.Lflag&unix.ECHO != 0 && m.Lflag&unix.ICANON != 0
}

// TestConversationKilled: after a kill -9 the next bothy has the terminal right, with the
// draft and the answer, and gives it back.
func TestConversationKilled(t *testing.T) {
	r := newRoll(t, 80, 20)
	r.start("bash", "-c", "stty -a >before; bothy; bothy -c; stty -a >after; echo LEFT")
	r.until("> What")
	r.keys("go\r")
	r.says(marked(1, 3))
	r.until("mark3 ")
	r.keys("half a thought")
	r.until("> half a thought")
	r.saved("half a thought")
	if err := exec.Command("pkill", "-9", "-P", fmt.Sprint(r.cmd.Process.Pid), "-x", "bothy-terminal").Run(); err != nil {
		t.Fatal(err)
	}
	r.until("/help shows", "mark3 ", "> half a thought")
	r.says(marked(4, 6))
	r.ends()
	r.until("mark6 ", "finished")
	r.keys("\x15\x04")
	r.until("LEFT")
}

// saved waits until what is typed was written down, while something works: each frame of that
// is a time to look. Keys are none, since one that is read in two pieces is another.
func (r *roll) saved(text string) {
	r.t.Helper()
	limit := time.After(time.Minute)
	for {
		r.mu.Lock()
		drawn := r.drawn
		r.mu.Unlock()
		found := false
		_ = filepath.WalkDir(r.home, func(path string, _ os.DirEntry, _ error) error {
			if data, err := os.ReadFile(path); err == nil && strings.Contains(path, "terminal") && strings.Contains(string(data), text) {
				found = true
			}
			return nil
		})
		if found {
			return
		}
		select {
		case <-drawn:
		case <-limit:
			r.t.Fatalf("the draft was never written down:\n%s", r.screen())
		}
	}
}

// TestConversationThinks: of what the model reasons the last two lines are seen, all with
// ctrl-t, and in the end a line says that it thought.
func TestConversationThinks(t *testing.T) {
	r := newRoll(t, 40, 20)
	r.begins("go")
	r.thinks("First of all the person wants something. ")
	r.thinks("Then there is more of it to be thought about. ")
	r.thinks("At last it is clear what is to be done, and it is done now.\n")
	screen := r.until("is done now", "thinking ", "esc ends it")
	if strings.Contains(screen, "First of all") {
		t.Errorf("more than two lines:\n%s", screen)
	}
	r.keys("\x14")
	r.until("First of all", "is done now")
	r.says("It is mark1 now. ")
	r.until("thought for", "It is mark1", "writing ")
	if screen := r.screen(); strings.Contains(screen, "First of all") {
		t.Errorf("the thought stands there behind its end:\n%s", screen)
	}
	r.ends()
	r.until("finished")
	r.once(1, 1)
	r.keys("more\r")
	r.thinks("First of all it is unfolded still, and so it stands there with all of its lines: this is the third one, and more.\n\n")
	r.until("First of all", "and more")
	r.calls("list_files", map[string]string{"path": "."}, map[string]string{"path": "."})
	r.until("✓ list_files")
	r.says("two calls made")
	r.ends()
	r.until("two calls made", "finished (2 turns, 2 actions")
	if n := strings.Count(r.paper(), "thought for"); n != 2 {
		t.Errorf("it thought %d times:\n%s", n, r.screen())
	}
}

// TestConversationPrintsMuch: 10 MB of output of one command, an answer of 5,000 lines and
// coming back to 10,000: the screen is right, and the memory bounded. Go frees what is not
// used any more as it finds the time; the limit has it find the time before more is taken.
func TestConversationPrintsMuch(t *testing.T) {
	r := newRoll(t, 100, 30)
	r.env = append(r.env, "GOMEMLIMIT=64MiB")
	r.begins("much")
	r.calls("bash", map[string]string{"command": "yes 'a line of a long output' | head -c 10000000; echo; echo the end"})
	r.until("✓ bash", "│ the end")
	r.ends()
	r.until("finished", "> What")
	r.rests()
	t.Logf("10 MB of output took %d MiB", r.most())
	if n := r.most(); n > 100 {
		t.Errorf("10 MB of output took %d MiB", n)
	}
	r.mu.Lock()
	r.kept = nil
	r.mu.Unlock()
	r.keys("long\r")
	for i := 2; i <= 2500; i += 100 {
		r.says(marked(i, min(i+99, 2500)))
	}
	r.ends()
	r.until("mark2500 ", "finished")
	r.rests()
	r.once(2, 2500)
	for p := range 3 {
		r.keys("more\r")
		r.says(marked(2501+1000*p, 3500+1000*p))
		r.ends()
		r.until(fmt.Sprintf("mark%d ", 3500+1000*p), "finished")
		r.rests()
	}
	r.keys("\x04")
	r.gone()
	r.mu.Lock()
	r.kept, r.doubts = nil, nil
	_, _ = r.term.Write([]byte("\x1b[2J\x1b[H"))
	r.mu.Unlock()
	r.start("bothy", "-r", "chat-1")
	r.until("mark5500 ", "> What")
	r.once(2501, 5500)
	t.Logf("coming back took %d MiB", r.most())
	if n := r.most(); n > 150 {
		t.Errorf("coming back took %d MiB", n)
	}
}
