package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"

	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

// MaxFile is the largest configuration file that is read, in bytes.
const MaxFile = 1 << 20

// Source says where a configuration comes from.
type Source struct {
	Defaults     []byte // the built-in config.hcl
	DefaultsName string
	Path         string // the user's file; it need not exist unless Required
	Required     bool   // the user named the file, so that its absence is a mistake
	Getenv       func(string) (string, bool)
	Secrets      Registry
	Keys         Keys // find what secret() asks for; nil finds nothing
	// Noted hears of the lock and of each file that file() is asked for, there or not, also
	// after Load has returned. Nil hears nothing.
	Noted func(path string)
	// Agents are the names of those that stand in files of the user's, by the settings of a configuration: an agent
	// block may name them to delegate to. Nil has none.
	Agents func(*Config) []string
}

// DefaultPath is the user's file when nobody names another: $XDG_CONFIG_HOME/bothy/config.hcl.
func DefaultPath() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the configuration: %w; set HOME or XDG_CONFIG_HOME", err)
	}
	return filepath.Join(dir, "bothy", "config.hcl"), nil
}

// Load reads the defaults, the user's file over them and the environment over both. It returns a Config
// whenever the diagnostics hold no error; what is warned of has changed nothing.
func Load(src Source) (*Config, Diagnostics) {
	if src.Keys == nil {
		src.Keys = noKeys{}
	}
	l := &loader{
		src:    src,
		parser: hclparse.NewParser(),
		cfg: &Config{
			Agents:  map[string]sdk.Agent{},
			Origins: map[string]Origin{},
			People:  map[string]sdk.Person{},
			Skills:  Skills{Blocks: map[string]SkillBlock{}},
			Context: evalContext(src),
			keys:    src.Keys,
			own:     &sync.Map{},
		},
		kept:  map[string][]*block{},
		sound: map[string]bool{},
	}
	l.defaults()
	l.file(src.Defaults, src.DefaultsName)
	if text, ok := l.userFile(); ok {
		l.file(text, src.Path)
	}
	l.cfg.Files = l.parser.Files()
	src.Keys.Expect(append(l.loginNames(), l.cfg.secretNames()...))
	l.environment()
	for _, text := range guardMistakes(l.cfg.Guards) {
		l.fail("Guards that do not go together", "In the guard block "+text+".")
	}
	l.decodeKept()
	l.lock()
	l.cfg.KeyUses = l.keyUses()
	l.redact()
	if l.diags.HasErrors() {
		return nil, l.diags
	}
	return l.cfg, l.diags
}

// loader carries one Load from step to step.
type loader struct {
	src    Source
	parser *hclparse.Parser
	cfg    *Config
	kept   map[string][]*block // by type, in the order in which the labels first appeared; settings that took effect too
	sound  map[string]bool     // of the agent blocks that were decoded: whether they have no mistake
	diags  Diagnostics
}

func (l *loader) defaults() {
	for _, s := range settings {
		text := s.defaultText()
		if text != "" {
			v, _ := s.read(text) // a test loads the defaults
			s.set(l.cfg, v)
		}
		l.cfg.Values = append(l.cfg.Values, Value{Key: s.key(), Doc: s.doc, text: text, Source: "default", unsaid: true})
	}
}

// userFile reads the user's file, if there is one.
func (l *loader) userFile() ([]byte, bool) {
	if l.src.Path == "" {
		return nil, false
	}
	text, err := watch.ReadRegular(l.src.Path, MaxFile)
	if err != nil && (l.src.Required || !errors.Is(err, fs.ErrNotExist)) {
		l.fail("Cannot read the configuration", err.Error())
	}
	return text, err == nil
}

// redact takes secret values out of what people will read: a setting that was
// written as secret("NAME"), and a mistake that quotes one.
func (l *loader) redact() {
	for i, v := range l.cfg.Values {
		l.cfg.Values[i].Value = l.src.Secrets.Redact(v.text)
	}
	for i, d := range l.diags {
		l.diags[i].Summary, l.diags[i].Detail = l.src.Secrets.Redact(d.Summary), l.src.Secrets.Redact(d.Detail)
	}
}

func (l *loader) fail(summary, detail string) {
	l.diags = append(l.diags, Diagnostic{Severity: "error", Summary: summary, Detail: detail})
}

func (l *loader) report(d hcl.Diagnostics) {
	for _, x := range FromHCL(l.parser.Files(), d...) {
		// A function that failed has no value, which is not a second mistake.
		if n := len(l.diags); n == 0 || !strings.HasSuffix(x.Detail, "value must be known") || l.diags[n-1].File != x.File || l.diags[n-1].Line != x.Line {
			l.diags = append(l.diags, x)
		}
	}
}

func (l *loader) reportAt(r hcl.Range, summary, detail string) {
	l.report(hcl.Diagnostics{{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: r.Ptr()}})
}

// environment applies BOTHY_* variables. One that cannot be read is a warning
// and changes nothing: a broken variable must not take the daemon down.
func (l *loader) environment() {
	mode := &l.cfg.Values[findSetting("policy", "mode").at]
	before := *mode
	defer func() { l.checkMode(mode, before) }()
	for _, s := range settings {
		text, ok := l.src.Getenv(s.variable())
		if !ok || text == "" {
			continue
		}
		v, err := s.read(text)
		if err != nil {
			l.ignored(s, err.Error(), l.cfg.Values[s.at])
			continue
		}
		s.set(l.cfg, v)
		now := &l.cfg.Values[s.at]
		now.text, now.Source, now.place, now.unsaid = text, s.variable(), hcl.Range{}, false
	}
}

// ignored warns of a variable that changes nothing.
func (l *loader) ignored(s setting, why string, stays Value) {
	l.diags = append(l.diags, Diagnostic{Severity: "warning", Summary: "Ignored " + s.variable(), Detail: why + "; the value from " + stays.Source + " stays."})
}
