package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// chunkLines is how many lines of a command's output are shown while it runs.
const chunkLines = 40

// progress shows a loop at work on standard error, for people: the model's
// text as it streams, each action with its result, retries, and the end. The
// answer itself goes to standard output when the loop has ended.
type progress struct {
	c     *console
	loop  *loopState
	shown string         // of the turn's text, what stands on the terminal
	open  bool           // the cursor stands behind text, not at a line's begin
	begun bool           // the turn's answer was previewed from its begin
	gap   bool           // a piece of the preview is missing: the rest comes with the row
	lines map[string]int // by action: lines of output shown
	part  map[string]string
	held  string              // the last answer's text, not shown yet
	wrong string              // the last error of the engine that was shown
	last  string              // the action that the last line is of
	wait  *waitLine           // nil where nothing is said while nothing comes
	work  []*timeline.Action  // at work
	rest  map[string][]string // by action: the last lines of output, of those that are not shown
}

func newProgress(c *console, s *loopState) *progress {
	return &progress{c: c, loop: s, lines: map[string]int{}, part: map[string]string{}, rest: map[string][]string{}}
}

// line prints a line of its own.
func (p *progress) line(format string, args ...any) {
	p.lost()
	p.last = ""
	p.c.say(format, args...)
}

// stream shows text right behind what stands there.
func (p *progress) stream(text string) {
	if text == "" {
		return
	}
	if !p.open {
		text = strings.TrimLeft(text, "\n")
	}
	fmt.Fprint(p.c.err, show.Text(text))
	p.last = ""
	p.open = !strings.HasSuffix(text, "\n")
}

// preview is shown on a terminal only: a file gets whole texts.
func (p *progress) preview(v rpc.Preview) {
	if !p.c.errTTY || v.Loop != p.loop.ID {
		return
	}
	if v.Restart {
		if p.shown != "" {
			p.line("%s", p.c.paint(dim, "  … asked again"))
		}
		p.shown, p.begun, p.gap = "", false, false
	}
	p.begun = p.begun || v.First
	if v.Text+v.Reasoning != "" && !p.begun || v.Dropped {
		p.gap = true
	}
	if p.gap {
		return
	}
	p.stream(v.Text)
	p.shown += v.Text
	if n := len(v.Calls); n > 0 {
		p.wait.work(show.Forming(v.Calls[n-1]))
	}
}

// proposal shows what waits for somebody else.
func (p *progress) proposal(x sdk.Proposal) {
	p.lost()
	_ = p.c.propose(x, false) // nobody is asked: what follows says how it can be answered
}

// lost leaves the line that the cursor stands behind.
func (p *progress) lost() {
	if p.open {
		fmt.Fprintln(p.c.err)
		p.open = false
	}
}

func (p *progress) row(row sdk.JournalRow, c timeline.Change) {
	p.works(row, c)
	switch {
	case row.Kind == sdk.KindTurnOpened:
		p.release()
		p.shown, p.begun, p.gap = "", false, false
	case row.Body != nil && c.Reply:
		p.text(c.Turn.Text)
	case row.Kind == sdk.KindEntryChunk && c.Action != nil:
		p.chunk(c.Action, row)
	case row.Kind == sdk.KindEntrySet && c.Action != nil:
		p.action(c.Action)
	case row.Kind == sdk.KindNoteSent: // which runs show --packet tells
	case strings.HasPrefix(row.Kind, sdk.KindNote):
		p.note(row)
	}
}

// works says what is being done, for when nothing comes for a while.
func (p *progress) works(row sdk.JournalRow, c timeline.Change) {
	p.work = slices.DeleteFunc(p.work, func(a *timeline.Action) bool { return a.State.Ended() })
	if a := c.Action; a != nil && a.Phase == sdk.PhaseStarted && !a.State.Ended() && !slices.Contains(p.work, a) {
		p.work = append(p.work, a)
	}
	switch {
	case p.loop.End != nil || p.loop.Waits() != nil:
		p.wait.work("")
	case len(p.work) > 0:
		p.wait.work(show.ActionName(p.work[len(p.work)-1].Path) + " works")
	default:
		p.wait.work("waiting for the model")
	}
}

// text shows the committed text of a turn, as far as the preview has not. One
// that may be the answer waits, for it belongs on standard output.
func (p *progress) text(text string) {
	if rest, ok := strings.CutPrefix(text, p.shown); ok && p.shown != "" {
		p.stream(rest)
		p.shown = text
		return
	}
	p.shown = ""
	if text, partial := p.loop.Text(); text != "" && !partial {
		p.held = text
		return
	}
	p.said(text)
}

// release shows a text that turned out not to be the answer.
func (p *progress) release() {
	p.said(p.held)
	p.held = ""
}

// said shows a text of the model that is not the answer.
func (p *progress) said(text string) {
	if text = strings.TrimSpace(text); text != "" {
		p.line("%s", show.Text(text))
	}
}

func (p *progress) action(a *timeline.Action) {
	switch {
	case a.IsError():
		if a.State.Ended() {
			p.wrong = strings.TrimSpace(a.Body)
			brief := a.Action
			brief.Body = show.Shorten(a.Body, 2000)
			p.draw(show.Action(&brief, p.view())...)
		}
	case a.State.Ended():
		p.ended(a)
	case a.Phase == sdk.PhaseStarted:
		p.started(a)
	}
}

// draw prints lines of their own.
func (p *progress) draw(lines ...show.Spans) {
	p.lost()
	p.last = ""
	fmt.Fprint(p.c.err, p.c.draw(lines))
}

// view is how much of a result is shown.
func (p *progress) view() show.View {
	return show.View{Width: p.c.errWidth(), Head: show.ResultHead, Tail: show.ResultTail}
}

// started shows the call, once.
func (p *progress) started(a *timeline.Action) {
	if _, told := p.lines[a.Path]; !told {
		p.lines[a.Path] = 0
		p.draw(show.Call(&a.Action, p.c.errWidth()))
		p.last = a.Path
	}
}

// chunk shows whole lines of a command's output as they come.
func (p *progress) chunk(a *timeline.Action, row sdk.JournalRow) {
	var chunk sdk.Chunk
	if a.Broken || row.Body == nil || json.Unmarshal(row.Data, &chunk) != nil {
		return
	}
	p.output(a, chunk.Channel, *row.Body)
}

// output shows what a channel printed as far as it is whole lines; the rest
// waits for its end.
func (p *progress) output(a *timeline.Action, channel int, text string) {
	p.started(a)
	key := fmt.Sprintf("%s#%d", a.Path, channel)
	text = p.part[key] + text
	for {
		line, rest, whole := strings.Cut(text, "\n")
		if !whole {
			break
		}
		p.outputLine(a, line)
		text = rest
	}
	if len(text) > 4<<10 { // a line without an end
		p.outputLine(a, text)
		text = ""
	}
	p.part[key] = text
}

// outputLine shows a line, or keeps it for the end where enough stands there.
func (p *progress) outputLine(a *timeline.Action, line string) {
	if p.lines[a.Path]++; p.lines[a.Path] > chunkLines {
		rest := append(p.rest[a.Path], line)
		p.rest[a.Path] = rest[max(0, len(rest)-show.ResultTail):]
		return
	}
	p.named(a)
	p.draw(show.BodyLine(line, p.view()))
	p.last = a.Path
}

// named shows the call again where something else stands between it and what comes.
func (p *progress) named(a *timeline.Action) {
	if p.last != a.Path {
		p.draw(show.Call(&a.Action, p.c.errWidth()))
		p.last = a.Path
	}
}

// ended shows what came of a call, behind what it printed while it worked.
func (p *progress) ended(a *timeline.Action) {
	printed := p.lines[a.Path] > 0
	for _, channel := range []int{1, 2} {
		if len(a.Streamed) > 0 {
			p.output(a, channel, a.Unseen(channel))
		}
		if rest := p.part[fmt.Sprintf("%s#%d", a.Path, channel)]; rest != "" {
			p.outputLine(a, rest)
		}
	}
	switch {
	case !printed && len(a.Streamed) == 0 && p.last != a.Path:
		p.draw(show.Action(&a.Action, p.view())...)
	default:
		p.named(a)
		p.draw(show.Result(p.left(a), p.view())...)
	}
}

// left is an action with what is left to be shown of its result: of what it printed, the
// end.
func (p *progress) left(a *timeline.Action) *sdk.Action {
	left := a.Action
	if len(a.Streamed) == 0 {
		return &left
	}
	rest := p.rest[a.Path]
	if n := p.lines[a.Path] - chunkLines - len(rest); n > 0 {
		rest = append([]string{fmt.Sprintf("… %d more lines", n)}, rest...)
	}
	left.Body = strings.Join(rest, "\n")
	delete(p.rest, a.Path)
	return &left
}

// note shows what the engine says about its own work, such as a retry, and
// what a tool says about its own.
func (p *progress) note(row sdk.JournalRow) {
	if text := show.Row(row); text != "" {
		p.draw(show.Note(text, p.c.errWidth())...)
	}
}

// finish prints the answer to standard output, unless the very terminal shows
// it already, and one line about the loop to standard error.
func (p *progress) finish(accepted rpc.Accepted, quiet bool) error {
	answer := p.loop.Answer()
	stands := p.c.outTTY && p.c.errTTY && !quiet && answer != "" && p.shown == answer
	p.lost()
	if !stands {
		if err := p.c.text(answer); err != nil {
			return err
		}
	}
	end := p.loop.End
	if end == nil || quiet && exitOf(*end) == exitOK {
		return nil
	}
	p.c.say("%s", p.summary(accepted, *end))
	return nil
}

func (p *progress) summary(accepted rpc.Accepted, end sdk.LoopEnd) string {
	line := show.End(p.loop.Loop, p.wrong, accepted.Run)
	if end.Stop == sdk.GuardMaxTurns {
		line = append(line, show.Span{Text: "; bothy runs resume " + show.Line(accepted.Run) + " goes on"})
	}
	return line.Draw(p.c.painter())
}
