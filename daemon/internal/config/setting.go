package config

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/bothyd/bothy/sdk"
)

// setting is one attribute of a block without a label. The table below is the
// whole of them: their names, defaults and documentation exist nowhere else.
type setting struct {
	block, name string
	kind        kind
	def         string // as it would be written after the equals sign; "" is none
	doc         string
	set         func(*Config, any)
}

// kind says what a setting's value looks like, and what set receives.
type kind string

const (
	kindString   kind = "text"                       // string
	kindPath     kind = "a path"                     // string, absolute when it comes from a file
	kindInt      kind = "a whole number"             // int64
	kindNumber   kind = "a number"                   // float64
	kindSize     kind = "a size such as \"64MB\""    // int64, bytes
	kindDuration kind = "a duration such as \"30s\"" // time.Duration

	kindBool    kind = "true or false" // bool
	kindPercent kind = "a percentage"  // float64, above 0 and at most 100

	kindOptionalNumber   kind = "a number, or 0"                        // float64
	kindOptionalDuration kind = "a duration such as \"30m\", or \"0s\"" // time.Duration
)

var settings = slices.Concat([]setting{
	{"listen", "socket", kindPath, "", "path of the daemon's socket; empty is $XDG_RUNTIME_DIR/bothy/bothy.sock",
		func(c *Config, v any) { c.Listen.Socket = v.(string) }},

	{"store", "path", kindPath, "", "the database file; empty is $XDG_STATE_HOME/bothy/bothy.db",
		func(c *Config, v any) { c.Store.Path = v.(string) }},
	{"store", "retention_days", kindInt, "31", "days that a run is kept after its last work; 0 keeps all",
		func(c *Config, v any) { c.Store.RetentionDays = int(v.(int64)) }},

	{"store", "idle_days", kindInt, "7", "days without work after which a run's container is removed; 0 keeps it until the daemon stops",
		func(c *Config, v any) { c.Store.IdleDays = int(v.(int64)) }},

	{"log", "level", kindString, "info", "the least that is logged: trace, debug, info, warn or error",
		func(c *Config, v any) { c.Log.Level = v.(string) }},
	{"log", "max_size", kindSize, "10MB", "size at which the daemon's log is rotated",
		func(c *Config, v any) { c.Log.MaxSize = v.(int64) }},
	{"log", "keep", kindInt, "3", "rotated logs that are kept",
		func(c *Config, v any) { c.Log.Keep = int(v.(int64)) }},

	{"stop", "grace", kindDuration, "5s", "time that running tools have to end when the daemon stops",
		func(c *Config, v any) { c.Grace = v.(time.Duration) }},

	{"sandbox", "image", kindString, "", "an OCI image present on this machine; empty is the skeleton with the host's /usr",
		func(c *Config, v any) { c.Sandbox.Image = v.(string) }},
	{"sandbox", "runtime", kindString, "auto", "OCI runtime: auto, crun or runc",
		func(c *Config, v any) { c.Sandbox.Runtime = v.(string) }},
	{"sandbox", "socket", kindPath, "", "a Podman socket to use; empty: the user's, else a service of Bothy's own",
		func(c *Config, v any) { c.Sandbox.Socket = v.(string) }},
	{"sandbox", "memory", kindSize, "2GB", "memory of a run's container",
		func(c *Config, v any) { c.Sandbox.Memory = v.(int64) }},
	{"sandbox", "cpus", kindNumber, "", "processors of a run's container; by default half of those that are there",
		func(c *Config, v any) { c.Sandbox.CPUs = v.(float64) }},
	{"sandbox", "pids", kindInt, "512", "processes of a run's container",
		func(c *Config, v any) { c.Sandbox.Pids = v.(int64) }},
	{"sandbox", "tmp", kindSize, "64MB", "size of /tmp in the container",
		func(c *Config, v any) { c.Sandbox.Tmp = v.(int64) }},
	{"sandbox", "timeout", kindDuration, sdk.CommandTime.String(), fmt.Sprintf("time for one command that names none; at most %gm", sdk.MaxCommandTime.Minutes()),
		func(c *Config, v any) { c.Sandbox.Timeout = sdk.Duration(v.(time.Duration)) }},
	{"sandbox", "max_stdout", kindSize, megabytes(sdk.CommandOutput), "standard output that is kept of one command",
		func(c *Config, v any) { c.Sandbox.MaxOutput = v.(int64) }},
	{"sandbox", "max_stderr", kindSize, megabytes(sdk.CommandErrors), "standard error that is kept of one command",
		func(c *Config, v any) { c.Sandbox.MaxErrors = v.(int64) }},

	{"sandbox", "shell", kindString, "bash", "how command lines are read: bash, or argv: one program and its words, without a shell",
		func(c *Config, v any) { c.Sandbox.Shell = v.(string) }},
	{"sandbox", "workspace", kindString, "project", "what commands work in: the project, or private: a folder of the run's own",
		func(c *Config, v any) { c.Sandbox.Workspace = v.(string) }},
	{"sandbox", "quota", kindSize, "5GB", "what a run's home and private workspace may hold; watched, since only root could enforce it",
		func(c *Config, v any) { c.Sandbox.Quota = v.(int64) }},

	{"policy", "mode", kindString, "restricted", "how much agents that name no mode may do without asking: " + sdk.ModeWords(),
		func(c *Config, v any) { c.Policy.Mode = sdk.Mode(v.(string)) }},
	{"policy", "allow_dangerous", kindBool, "false", "full may be the mode of an agent, or policy.mode",
		func(c *Config, v any) { c.Policy.AllowDangerous = v.(bool) }},
	{"policy", "expiry", kindDuration, "24h", "time in which a proposal can be answered",
		func(c *Config, v any) { c.Policy.Expiry = v.(time.Duration) }},
	{"policy", "answer_within", kindDuration, "5m", "how long `bothy run` without a terminal waits for somebody else's answer; the proposal stays",
		func(c *Config, v any) { c.Policy.AnswerWithin = v.(time.Duration) }},
}, guardSettings(), []setting{
	{"skills", "agents", kindBool, "true", "look for skills in .agents/skills too, of the home and of projects",
		func(c *Config, v any) { c.Skills.Agents = v.(bool) }},
	{"skills", "claude", kindBool, "true", "look for skills in .claude/skills too, of the home and of projects",
		func(c *Config, v any) { c.Skills.Claude = v.(bool) }},
	{"skills", "bundled", kindBool, "true", "use the skills that came with Bothy",
		func(c *Config, v any) { c.Skills.Bundled = v.(bool) }},
	{"skills", "budget", kindPercent, "2", "percent of the model's context that the list of skills may take in a prompt",
		func(c *Config, v any) { c.Skills.Budget = v.(float64) }},
})

// key is how people name a setting: block.name.
func (s setting) key() string { return s.block + "." + s.name }

// variable is the environment variable that overrides it.
func (s setting) variable() string {
	return "BOTHY_" + strings.ToUpper(s.block) + "_" + strings.ToUpper(s.name)
}

func findSetting(block, name string) (setting, bool) {
	for _, s := range settings {
		if s.block == block && s.name == name {
			return s, true
		}
	}
	return setting{}, false
}

// defaultText is the default as text; that of cpus depends on the machine.
func (s setting) defaultText() string {
	if s.key() == "sandbox.cpus" {
		return strconv.FormatFloat(math.Max(0.5, float64(runtime.NumCPU())/2), 'g', -1, 64)
	}
	return s.def
}

func megabytes(n int64) string { return fmt.Sprintf("%dMB", n>>20) }

// oneCall is what is wrong with repeated_calls = 1.
const oneCall = "is 1, which would stop the first call already; write 0 to turn it off, or at least 2"

// read turns text into the value of the setting's kind.
func (s setting) read(text string) (any, error) {
	switch s.kind {
	case kindInt:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%s must be %s that is not negative, not %q", s.key(), s.kind, text)
		}
		if s.key() == "guard.repeated_calls" && n == 1 {
			return nil, fmt.Errorf("%s %s", s.key(), oneCall)
		}
		return n, nil
	case kindNumber, kindOptionalNumber:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n < 0 || n == 0 && s.kind == kindNumber || math.IsInf(n, 0) || math.IsNaN(n) {
			return nil, fmt.Errorf("%s must be %s above zero, not %q", s.key(), s.kind, text)
		}
		return n, nil
	case kindPercent:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !(n > 0 && n <= 100) {
			return nil, fmt.Errorf("%s must be %s above 0 and at most 100, not %q", s.key(), s.kind, text)
		}
		return n, nil
	case kindBool:
		is, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%s must be %s, not %q", s.key(), s.kind, text)
		}
		return is, nil
	case kindSize:
		n, err := ParseSize(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.key(), err)
		}
		return n, nil
	case kindDuration, kindOptionalDuration:
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 || d == 0 && s.kind == kindDuration {
			return nil, fmt.Errorf("%s must be %s, not %q", s.key(), s.kind, text)
		}
		if s.key() == "sandbox.timeout" && d > sdk.MaxCommandTime {
			return nil, fmt.Errorf("%s is %s and may be %s at most", s.key(), d, sdk.MaxCommandTime)
		}
		return d, nil
	default:
		if may := choices[s.key()]; may != nil && !slices.Contains(may, text) {
			return nil, fmt.Errorf("%s is %q; it may be %s", s.key(), text, strings.Join(may, ", "))
		}
		return text, nil
	}
}

// choices are the settings that have few values.
var choices = map[string][]string{
	"log.level":         {"trace", "debug", "info", "warn", "error"},
	"sandbox.shell":     {"bash", "argv"},
	"sandbox.workspace": {"project", "private"},
	"policy.mode":       sdk.ModeNames(),
}

// value reads a value from HCL, and its text.
func (s setting) value(v cty.Value) (any, string, error) {
	text, err := s.text(v)
	if err != nil {
		return nil, "", err
	}
	value, err := s.read(text)
	return value, text, err
}

// text writes a value from HCL as the text that read understands.
func (s setting) text(v cty.Value) (string, error) {
	switch {
	case v.IsNull() || !v.IsKnown():
		return "", fmt.Errorf("%s has no value", s.key())
	case v.Type() == cty.String:
		return v.AsString(), nil
	case v.Type() == cty.Number && s.takesNumber():
		return v.AsBigFloat().Text('f', -1), nil
	case v.Type() == cty.Bool && s.kind == kindBool:
		return strconv.FormatBool(v.True()), nil
	default:
		return "", fmt.Errorf("%s must be %s", s.key(), s.kind)
	}
}

// takesNumber reports whether a number may stand for a value.
func (s setting) takesNumber() bool {
	switch s.kind {
	case kindString, kindPath, kindBool, kindDuration, kindOptionalDuration:
		return false
	}
	return true
}

var sizeUnits = []struct {
	suffix string
	factor int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"TB", 1 << 40},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1 << 40}, {"B", 1},
}

// ParseSize reads "64MB", "2G", "512KiB" or a plain number of bytes. The units
// are powers of 1024, as in every tool that limits memory.
func ParseSize(text string) (int64, error) {
	number, factor := strings.TrimSpace(text), int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, u.suffix); ok {
			number, factor = strings.TrimSpace(rest), u.factor
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n <= 0 || n > float64(math.MaxInt64/factor) || math.IsNaN(n) {
		return 0, fmt.Errorf("%q is no size; write for instance \"64MB\" or \"2GB\"", text)
	}
	return int64(n * float64(factor)), nil
}
