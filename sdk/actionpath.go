package sdk

import (
	"fmt"
	"strconv"
	"strings"
)

// ActionPath is where an action is recorded: log://turn_N/TOOL/SLUG. Where Tool is
// ErrorTool the entry is a failure or a warning without a call.
type ActionPath struct {
	Turn int
	Tool string
	Slug string // may hold further slashes
}

const (
	// TurnPrefix begins the path of whatever the engine records of a turn.
	TurnPrefix = "log://turn_"
	// ErrorTool stands where the tool would in the path of a failure without a call.
	ErrorTool = "error"
)

// ParseActionPath reads a path; false is that it is in another form, and so no
// action's: the list of a project's files (ManifestPath) is of no turn. A path that it reads is what String writes.
func ParseActionPath(path string) (ActionPath, bool) {
	rest, ok := strings.CutPrefix(path, TurnPrefix)
	number, rest, split := strings.Cut(rest, "/")
	tool, slug, whole := strings.Cut(rest, "/")
	turn, err := strconv.Atoi(number)
	if !ok || !split || !whole || tool == "" || slug == "" || err != nil || turn < 0 || strconv.Itoa(turn) != number || path == ManifestPath {
		return ActionPath{}, false
	}
	return ActionPath{Turn: turn, Tool: tool, Slug: slug}, true
}

// String writes the path. It does not check that Tool and Slug can stand in one.
func (p ActionPath) String() string {
	return fmt.Sprintf("%s%d/%s/%s", TurnPrefix, p.Turn, p.Tool, p.Slug)
}

// The daemon's own names for the tool that runs commands, whose output is entries of their own.
const (
	ToolSh  = "sh"
	ToolEnv = "env"
)

// Output is the path of what a command of sh or env prints on a channel, 1 or 2: TOOL://turn_N/SLUG_CHANNEL.
func (p ActionPath) Output(channel int) string {
	return fmt.Sprintf("%s://turn_%d/%s_%d", p.Tool, p.Turn, p.Slug, channel)
}

// ParseOutputPath reads the path of what a command of sh or env prints; false is that it is another's.
func ParseOutputPath(path string) (p ActionPath, channel int, ok bool) {
	tool, rest, _ := strings.Cut(path, "://turn_")
	if tool != ToolSh && tool != ToolEnv {
		return ActionPath{}, 0, false
	}
	turn, name, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(name, '_')
	if at < 1 {
		return ActionPath{}, 0, false
	}
	n, err := strconv.Atoi(turn)
	channel, wrong := strconv.Atoi(name[at+1:])
	p = ActionPath{Turn: n, Tool: tool, Slug: name[:at]}
	if err != nil || wrong != nil || n < 0 || channel < 1 || p.Output(channel) != path {
		return ActionPath{}, 0, false
	}
	return p, channel, true
}

// IsError reports whether this is no call.
func (p ActionPath) IsError() bool { return p.Tool == ErrorTool }

// dialectSlug begins the slug of what the dialect had to say of an answer.
const dialectSlug = "dialect_"

// DialectSlug is the slug of the n-th warning that the dialect gave of an answer.
func DialectSlug(n int) string { return fmt.Sprintf("%s%d", dialectSlug, n) }

// IsDialect reports whether this is a warning of the dialect, and no call.
func (p ActionPath) IsDialect() bool { return p.IsError() && strings.HasPrefix(p.Slug, dialectSlug) }

// correctionSlug is the slug of what tells a model that its answer in plain text does not end the work.
const correctionSlug = "plain_text"

// CorrectionPath is the path of what tells the model that its answer of a turn, in plain text, does not end the work:
// it has to be handed over by ToolFinish.
func CorrectionPath(turn int) string {
	return ActionPath{Turn: turn, Tool: ErrorTool, Slug: correctionSlug}.String()
}

// IsCorrection reports whether this is the path of one.
func (p ActionPath) IsCorrection() bool { return p.IsError() && p.Slug == correctionSlug }

// Changes is the path of what the action changed in the project's files.
func (p ActionPath) Changes() string { return "change" + strings.TrimPrefix(p.String(), "log") }

// TurnPattern is a pattern over the paths of one turn's actions and failures.
func TurnPattern(turn int) string { return fmt.Sprintf("%s%d/**", TurnPrefix, turn) }

// TurnOf is the turn that a path names: of an action, of a failure without one, of
// a reply or of a part of one. It is 0 for any other path.
func TurnOf(path string) int {
	rest, ok := strings.CutPrefix(path, TurnPrefix)
	if !ok {
		if rest, ok = strings.CutPrefix(path, replyPrefix); !ok {
			return 0
		}
	}
	number, _, _ := strings.Cut(rest, "/")
	n, err := strconv.Atoi(number)
	if err != nil {
		return 0
	}
	return n
}
