package config

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/loopback"
	"github.com/bothyd/bothy/sdk/protect"
)

// setting is one attribute of a block without a label. It is declared once, by
// the tags of its field in a block of [Config]:
//
//   - doc says what it is, for people, and makes the field a setting;
//   - name is the attribute, where json does not say it;
//   - default is its value as it would be written after the equals sign;
//   - tags is its default for agents of the dialect tags, where that is another;
//   - kind is how it is written, where the field's type does not say it;
//   - values are all that a text may be, and least is what a number above 0 must be;
//   - start says that a running daemon cannot change it;
//   - project says that a project block may set it for its project;
//   - of names the setting of which it is a part, so that it limits nothing alone.
//
// Words in braces are those of [words].
type setting struct {
	block, name string
	kind        kind
	def         string // "" is none
	doc         string
	values      []string          // nil: any
	zero        bool              // a number or duration may be zero, since its default is
	tag         reflect.StructTag // of the field
	index       []int             // of it in Config
	at          int               // its place among the settings, and that of its value in Config.Values
}

// kind says what a setting's value looks like.
type kind string

const (
	kindString   kind = "text"
	kindPath     kind = "a path" // absolute when it comes from a file
	kindInt      kind = "a whole number that is not negative"
	kindNumber   kind = "a number above zero"
	kindSize     kind = "a size such as \"64MB\"" // in bytes
	kindDuration kind = "a duration such as \"30s\""

	kindBool    kind = "true or false"
	kindPercent kind = "a percentage above 0 and at most 100"
	kindShare   kind = "a share above 0 and at most 1"
	kindList    kind = "a list of texts"
)

// taggedKinds are those that the tag of a field names, and typedKinds those of a type without.
var (
	taggedKinds = map[string]kind{"path": kindPath, "size": kindSize, "percent": kindPercent, "share": kindShare}
	typedKinds  = map[reflect.Type]kind{
		reflect.TypeFor[time.Duration](): kindDuration, reflect.TypeFor[sdk.Duration](): kindDuration,
		reflect.TypeFor[int](): kindInt, reflect.TypeFor[int64](): kindInt, reflect.TypeFor[float64](): kindNumber,
		reflect.TypeFor[bool](): kindBool, reflect.TypeFor[[]string](): kindList,
	}
	// hclTypes are those in which HCL may have a value that is no text.
	hclTypes = map[kind]cty.Type{kindInt: cty.Number, kindNumber: cty.Number, kindSize: cty.Number, kindPercent: cty.Number, kindShare: cty.Number, kindBool: cty.Bool}
)

// words are what a tag cannot hold, because it is a constant of sdk.
var words = strings.NewReplacer(
	"{command_time}", fmt.Sprintf("%gm", sdk.CommandTime.Minutes()),
	"{max_command_time}", fmt.Sprintf("%gm", sdk.MaxCommandTime.Minutes()),
	"{command_output}", fmt.Sprintf("%dMB", sdk.CommandOutput>>20),
	"{command_errors}", fmt.Sprintf("%dMB", sdk.CommandErrors>>20),
	"{modes}", sdk.ModeWords(),
)

// settings are all settings, in the order of the fields.
var settings = allSettings()

func allSettings() (all []setting) {
	for _, block := range reflect.VisibleFields(reflect.TypeFor[Config]()) {
		if block.Tag.Get("block") == "" {
			continue
		}
		for _, f := range reflect.VisibleFields(block.Type) {
			if f.Tag.Get("doc") != "" {
				s := settingOf(block, f)
				s.at = len(all)
				all = append(all, s)
			}
		}
	}
	return all
}

// settingOf reads the tags of one field of a block.
func settingOf(block, f reflect.StructField) setting {
	s := setting{
		block: block.Tag.Get("block"), name: attributeName(f), def: words.Replace(f.Tag.Get("default")), doc: words.Replace(f.Tag.Get("doc")),
		kind: cmp.Or(taggedKinds[f.Tag.Get("kind")], typedKinds[f.Type], kindString), tag: f.Tag, index: slices.Concat(block.Index, f.Index),
	}
	if values := f.Tag.Get("values"); values != "" {
		s.values = strings.Split(values, ",")
	}
	if f.Type == reflect.TypeFor[sdk.Mode]() {
		s.values = sdk.ModeNames()
	}
	s.zero = s.kind == kindInt || s.def == "0" || s.def == "0s"
	return s
}

// attributeName is what a field is called in a file.
func attributeName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return cmp.Or(f.Tag.Get("name"), name)
}

// set puts a value that read returned into its field.
func (s setting) set(c *Config, value any) {
	field := reflect.ValueOf(c).Elem().FieldByIndex(s.index)
	field.Set(reflect.ValueOf(value).Convert(field.Type()))
}

// key is how people name a setting: block.name.
func (s setting) key() string { return s.block + "." + s.name }

// variable is the environment variable that overrides it.
func (s setting) variable() string {
	return "BOTHY_" + strings.ToUpper(s.block) + "_" + strings.ToUpper(s.name)
}

// findSetting is the setting of a name; one that is unknown has no name.
func findSetting(block, name string) setting {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.block == block && s.name == name })
	if i < 0 {
		return setting{}
	}
	return settings[i]
}

// defaultText is the default as text; that of cpus depends on the machine.
func (s setting) defaultText() string {
	if s.key() == "sandbox.cpus" {
		return strconv.FormatFloat(math.Max(0.5, float64(runtime.NumCPU())/2), 'g', -1, 64)
	}
	return s.def
}

// in is its default for agents of a dialect, where they have one of their own.
func (s setting) in(dialect string) string {
	if dialect != sdk.DialectTags {
		return ""
	}
	return s.tag.Get(dialect)
}

// read turns text into the value of the setting's kind.
func (s setting) read(text string) (value any, err error) {
	n, most := 1.0, math.MaxFloat64 // of what has an order
	switch s.kind {
	case kindString, kindPath:
		if s.values != nil && !slices.Contains(s.values, text) {
			return nil, fmt.Errorf("%s is %q; it may be %s", s.key(), text, strings.Join(s.values, ", "))
		}
		return text, s.mistake(text)
	case kindList:
		value = listOf(text)
	case kindSize:
		if value, err = ParseSize(text); err != nil {
			return nil, fmt.Errorf("%s: %w", s.key(), err)
		}
	case kindBool:
		value, err = strconv.ParseBool(text)
	case kindInt:
		value, err = strconv.ParseInt(text, 10, 64)
	case kindDuration:
		value, err = time.ParseDuration(text)
	case kindPercent:
		most = 100
		value, err = strconv.ParseFloat(text, 64)
	case kindShare:
		most = 1
		fallthrough
	default:
		value, err = strconv.ParseFloat(text, 64)
	}
	if v := reflect.ValueOf(value); v.CanInt() || v.CanFloat() {
		n = number(v)
	}
	if err != nil || !(n > 0 && n <= most || n == 0 && s.zero) {
		return nil, fmt.Errorf("%s must be %s, not %q", s.key(), s.words(), text)
	}
	return value, s.mistake(value)
}

// mistake is what is wrong with a value beside its kind.
func (s setting) mistake(value any) error {
	switch {
	case s.tag.Get("least") != "" && value == int64(1):
		return fmt.Errorf("%s is 1, and everything happens once; write 0 to turn it off, or at least %s", s.key(), s.tag.Get("least"))
	case s.key() == "sandbox.timeout" && value.(time.Duration) > sdk.MaxCommandTime:
		return fmt.Errorf("%s is %s and may be %s at most", s.key(), value, sdk.MaxCommandTime)
	case s.key() == "context.keep_turns" && value == int64(0):
		return fmt.Errorf("%s is 0, and the last answer always stays; write at least 1", s.key())
	case s.key() == "listen.web" && value != "":
		if err := loopback.CheckAddress(value.(string)); err != nil {
			return fmt.Errorf("%s: %w", s.key(), err)
		}
	case s.block == protectBlock:
		for _, pattern := range value.([]string) {
			if err := protect.CheckPattern(pattern); err != nil {
				return fmt.Errorf("%s: %w", s.key(), err)
			}
		}
	}
	return nil
}

// protectBlock has lists of patterns of paths.
const protectBlock = "protect"

// listOf reads a list as the text that text makes of it: separated by commas.
func listOf(text string) (list []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// text writes a value from HCL as the text that read understands.
func (s setting) text(v cty.Value) (string, error) {
	switch {
	case v.IsNull() || !v.IsKnown():
		return "", fmt.Errorf("%s has no value", s.key())
	case s.kind == kindList && v.CanIterateElements():
		var texts []string
		for _, each := range v.AsValueSlice() {
			if each.IsNull() || !each.IsKnown() || each.Type() != cty.String || strings.Trim(each.AsString(), " \t") == "" || strings.Contains(each.AsString(), ",") {
				return "", fmt.Errorf("%s must be %s, none of them empty or with a comma", s.key(), s.kind)
			}
			texts = append(texts, each.AsString())
		}
		return strings.Join(texts, ", "), nil
	case s.kind != kindList && (v.Type() == cty.String || v.Type() == hclTypes[s.kind]):
		text, err := convert.Convert(v, cty.String)
		return text.AsString(), err
	}
	return "", fmt.Errorf("%s must be %s", s.key(), s.words())
}

// words are its kind, for people.
func (s setting) words() string {
	if s.zero && s.kind != kindInt {
		return fmt.Sprintf("%s, or %s", s.kind, s.def)
	}
	return string(s.kind)
}

// sizeForm is a number and a unit.
var sizeForm = regexp.MustCompile(`^(.*?)\s*(?:([KMGT])(?:i?B)?|B)?$`)

// ParseSize reads "64MB", "2G", "512KiB" or a plain number of bytes. The units
// are powers of 1024, as in every tool that limits memory.
func ParseSize(text string) (int64, error) {
	if m := sizeForm.FindStringSubmatch(strings.TrimSpace(text)); m != nil {
		factor := int64(1) << (10 * strings.Index("BKMGT", cmp.Or(m[2], "B")))
		n, err := strconv.ParseFloat(m[1], 64)
		if err == nil && n > 0 && n <= float64(math.MaxInt64/factor) {
			return int64(n * float64(factor)), nil
		}
	}
	return 0, fmt.Errorf("%q is no size; write for instance \"64MB\" or \"2GB\"", text)
}
