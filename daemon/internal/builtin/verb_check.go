package builtin

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// check refuses what no entries have to be read for.
func check(c sdk.EntryCall) error {
	fields, known := takes[c.Verb]
	if !known {
		return sdk.Errorf(sdk.Validation, "there is no verb %.80q; there are %v", c.Verb, sdk.Verbs())
	}
	if c.Attributes != nil {
		if err := checkAttributes(c.Attributes); err != nil {
			return err
		}
	}
	told, err := c.Told()
	if err != nil {
		return err
	}
	for _, name := range told {
		if !slices.Contains(fields, name) {
			return takesNone(c.Verb, name)
		}
	}
	for _, name := range []string{"path", "to"} {
		if !slices.Contains(fields, name) || name == "to" && onlyLooks(c) {
			continue
		}
		target := c.Path
		if name == "to" {
			target = c.To
		}
		if err := checkTarget(c.Verb, name, target); err != nil {
			return err
		}
	}
	return checkLevels(c)
}

func takesNone(verb sdk.Verb, name string) error {
	return sdk.Errorf(sdk.Validation, "%s takes no %.80s; it takes %s", verb, name, strings.Join(takes[verb], ", "))
}

func checkLevels(c sdk.EntryCall) error {
	switch {
	case !slices.Contains([]sdk.Visibility{"", sdk.Visible, sdk.Summarized, sdk.Archived}, c.Visibility):
		return sdk.Errorf(sdk.Validation, "there is no visibility %.80q; there are visible, summarized and archived", c.Visibility)
	case c.State == sdk.StateProposed:
		return sdk.Errorf(sdk.Permission, "%s: only an action waits for a person, so no entry can be set to proposed", c.Path)
	case !slices.Contains([]sdk.State{"", sdk.StateStreaming, sdk.StateResolved, sdk.StateFailed, sdk.StateCancelled}, c.State):
		return sdk.Errorf(sdk.Validation, "there is no state %.80q; there are resolved, failed and cancelled", c.State)
	case c.Outcome != "" && c.State != sdk.StateFailed && c.State != sdk.StateCancelled:
		return sdk.Errorf(sdk.Validation, "an outcome belongs to the state failed or cancelled")
	case c.Body != nil && !utf8.ValidString(*c.Body):
		return sdk.Errorf(sdk.Validation, "a body must be valid UTF-8")
	case c.Append && c.Body == nil:
		return sdk.Errorf(sdk.Validation, "append needs a body")
	case c.Limit < 0:
		return sdk.Errorf(sdk.Validation, "limit is a number of lines; to read from the end write line = -%d", -c.Limit)
	case c.Verb == sdk.VerbGet && c.Visibility != "" && (c.Preview || c.Line != 0 || c.Limit != 0):
		return sdk.Errorf(sdk.Validation, "with preview, line or limit nothing comes into sight, so get takes no visibility beside them")
	}
	return nil
}

// checkTarget refuses what is no name, as of a model that thinks in the place of a path.
func checkTarget(verb sdk.Verb, name, target string) error {
	switch {
	case target == "":
		return sdk.Errorf(sdk.Validation, "%s needs %s", verb, name)
	case len(target) > sdk.MaxTarget:
		return sdk.Errorf(sdk.Validation, "%s of %s has %d bytes and may have %d: %.60q...", name, verb, len(target), sdk.MaxTarget, target)
	case !utf8.ValidString(target), strings.ContainsFunc(target, unicode.IsControl):
		return sdk.Errorf(sdk.Validation, "%s of %s has characters that no path has: %.80q", name, verb, target)
	}
	return nil
}

func checkAttributes(attributes json.RawMessage) error {
	o, err := object(attributes)
	if err != nil {
		return sdk.Errorf(sdk.Validation, "attributes must be a JSON object: %w", err)
	}
	for name := range o { // JSON is read without regard to the case of names
		if strings.EqualFold(name, sdk.AttributeForeign) {
			return sdk.Errorf(sdk.Permission, "whether an entry came from outside is the daemon's to say: leave out the attribute %s", name)
		}
	}
	return nil
}

// object reads a JSON object; nothing is an empty one.
func object(text json.RawMessage) (map[string]any, error) {
	if len(text) == 0 {
		return map[string]any{}, nil
	}
	v, err := sdk.AnyJSON(text)
	if err != nil {
		return nil, err
	}
	o, ok := v.(map[string]any)
	if !ok {
		return nil, sdk.Errorf(sdk.Validation, "it is none: %.40s", text)
	}
	return o, nil
}

// canonical is a path as it is stored: a scheme has no capitals.
func canonical(path string) string {
	i := strings.Index(path, "://")
	if i <= 0 || strings.ContainsFunc(path[:i], func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("+-._", r)
	}) {
		return path // it may be a pattern
	}
	return strings.ToLower(path[:i]) + path[i:]
}
