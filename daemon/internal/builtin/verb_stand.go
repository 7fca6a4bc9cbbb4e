package builtin

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// A verb that changes a file, which is a path without a scheme, stands for a call of the files plugin: nothing here
// writes a file (decision 91).

// filesPlugin is whose tools the verbs stand for.
const filesPlugin = "files"

// mostFilled bounds the texts of entries that the calls of one answer take to files, in bytes: each is recorded with its call.
const mostFilled = 8 << 20

// isFile reports whether a path names a file.
func isFile(path string) bool { return path != "" && strings.Index(path, "://") <= 0 }

// fileArguments are the arguments of a verb, as far as they say whether it changes a file; or those of the tool that
// it stands for, as a hook leaves them that changed the call.
type fileArguments struct {
	path, to, source    string
	body, content, pick bool // whether they are there; pick is pattern
	edits               bool // the body of a model's set is made on what the file has
	places              bool // new_text is there
	preview             bool // nothing is to be removed
	looks               bool // a visibility is there, and no destination
	own                 bool // they are the tool's
}

func fileArgumentsOf(arguments json.RawMessage) fileArguments {
	var all map[string]json.RawMessage
	if json.Unmarshal(arguments, &all) != nil {
		return fileArguments{} // it is refused
	}
	text := func(name string) (s string) {
		_ = json.Unmarshal(all[name], &s) // what is no text is no path
		return s
	}
	has := func(name string) bool { return len(all[name]) > 0 && string(all[name]) != "null" }
	return fileArguments{
		path: text("path"), to: text("to"), source: text("source"),
		body: has("body"), content: has("content"), pick: string(all["pattern"]) == "true",
		places: has("new_text"), preview: string(all["preview"]) == "true", looks: has("visibility") && text("to") == "",
		own: slices.ContainsFunc([]string{"content", "new_text", "recursive", "source", "destination", "overwrite"}, has),
	}
}

// fileTool is the tool that a call stands for; empty where it touches entries alone.
func (v *Verbs) fileTool(verb sdk.Verb, a fileArguments) string {
	switch {
	case verb == sdk.VerbSet && isFile(a.path) && (a.body && a.edits || a.places):
		return "edit_file"
	case verb == sdk.VerbSet && isFile(a.path) && (a.body && !a.pick || a.content):
		return "write_file"
	case verb == sdk.VerbRemove && isFile(a.path) && !a.preview && v.literal(a.path):
		return "delete_path"
	case verb != sdk.VerbCopy && verb != sdk.VerbMove, a.looks && !a.own:
		return ""
	case a.content && isFile(a.path), !a.own && !isFile(a.path) && isFile(a.to):
		return "write_file"
	case !isFile(a.path) && !isFile(a.source), verb == sdk.VerbCopy && a.to != "" && !isFile(a.to):
		return ""
	case verb == sdk.VerbMove:
		return "move_path"
	}
	return "copy_path"
}

// literal reports whether a path stands for itself and is no pattern.
func (v *Verbs) literal(path string) bool {
	_, plain, err := v.patterns()(path)
	return plain && err == nil
}

// File implements sdk.TurnTools.
func (t turn) File(name string, arguments json.RawMessage) (sdk.FileCall, bool, error) {
	v, err := t.verb(name)
	if err != nil {
		return sdk.FileCall{}, false, nil
	}
	a := fileArgumentsOf(arguments)
	a.edits = a.body && v.use.Writer == sdk.WriterModel && editsFile(arguments)
	f := sdk.FileCall{Plugin: filesPlugin, Tool: v.verbs.fileTool(sdk.Verb(v.spec.Name), a), Arguments: arguments}
	if f.Tool == "" {
		return sdk.FileCall{}, false, nil
	}
	if !a.own {
		err = v.translate(&f, arguments)
	}
	return f, true, err
}

// translate puts the arguments of a verb into the form of the tool that it stands for.
func (v verbTurn) translate(f *sdk.FileCall, arguments json.RawMessage) error {
	c, body, err := v.filled(arguments)
	if err != nil {
		return err
	}
	var as any
	switch {
	case c.Filter != "" || c.Preview || c.Append || c.State != "" || c.Outcome != "" || c.Visibility != "" || c.Attributes != nil || c.Summary != "":
		return sdk.Errorf(sdk.Validation, "of a file %s takes %s alone; to change a part of one, edit it", c.Verb, fileTakes[c.Verb])
	case f.Tool == "edit_file":
		as = map[string]any{"path": c.Path, "old_text": "", "new_text": *c.Body}
	case c.Verb == sdk.VerbSet:
		text, err := v.wholeText(c)
		if err != nil {
			return err
		}
		as = map[string]any{"path": c.Path, "content": text}
	case c.Verb == sdk.VerbRemove:
		as = map[string]any{"path": c.Path}
	case isFile(c.Path) && isFile(c.To):
		as = map[string]any{"source": c.Path, "destination": c.To, "overwrite": true}
	case isFile(c.Path):
		return sdk.Errorf(sdk.Validation, "%s is a file, and %s is an entry: set the entry to what the file has, and remove the file", c.Path, c.To)
	case body == nil:
		return sdk.Errorf(sdk.Validation, "the text of %s is not there: %s the entry anew", c.Path, c.Verb)
	default:
		as = map[string]any{"path": c.To, "content": *body}
		if c.Verb == sdk.VerbMove {
			f.Moves = c.Path
		}
	}
	f.Arguments, err = json.Marshal(as)
	return err
}

// fileTakes is what verbs take of a file.
var fileTakes = map[sdk.Verb]string{sdk.VerbSet: "path and body", sdk.VerbRemove: "path", sdk.VerbCopy: "path and to", sdk.VerbMove: "path and to"}

// filled reads the arguments of a verb, of cp and mv also those to which Fill has added the text of the entry.
func (v verbTurn) filled(arguments json.RawMessage) (c sdk.EntryCall, body *string, err error) {
	if c, err = v.call(arguments, "body"); err != nil {
		return c, nil, err
	}
	if c.Verb == sdk.VerbCopy || c.Verb == sdk.VerbMove {
		body, c.Body = c.Body, nil
	}
	if err = check(c); err == nil {
		c.Path, c.To = canonical(c.Path), canonical(c.To)
	}
	return c, body, err
}

// Fill implements sdk.TurnTools.
func (t turn) Fill(ctx context.Context, before []sdk.Invocation, call sdk.Invocation) (json.RawMessage, error) {
	v, err := t.verb(call.Tool)
	if err != nil {
		return nil, nil
	}
	verb := sdk.Verb(v.spec.Name)
	if verb == sdk.VerbSet || v.verbs.fileTool(verb, fileArgumentsOf(call.Arguments)) != "write_file" {
		return nil, nil
	}
	c, err := v.call(call.Arguments)
	if err == nil {
		err = check(c)
	}
	if err != nil {
		return nil, err
	}
	c.Path = canonical(c.Path)
	filled := 0
	for _, b := range before {
		f, is, err := t.File(b.Tool, b.Arguments)
		if is && err == nil && f.Moves == c.Path {
			return nil, changedBefore(c.Verb, c.Path)
		}
		w, err := t.verb(b.Tool)
		if err != nil {
			continue
		}
		if is {
			filled += len(b.Arguments)
		} else if other, err := w.call(b.Arguments); err == nil && v.verbs.mayChange(other, c.Path) {
			return nil, changedBefore(c.Verb, c.Path)
		}
	}
	text, err := v.verbs.text(ctx, v.use, c.Verb, c.Path)
	if err != nil {
		return nil, err
	}
	switch {
	case len(text) > mostFilled:
		return nil, sdk.Errorf(sdk.Overflow, "%s has %d bytes, and %d MiB is the most that a verb takes to a file", c.Path, len(text), mostFilled>>20)
	case filled+len(text) > mostFilled:
		return nil, sdk.Errorf(sdk.Overflow, "%s has %d bytes, and the calls of one answer take %d MiB to files at most: %s it in the next", c.Path, len(text), mostFilled>>20, c.Verb)
	}
	c.Body = &text
	return c.Arguments()
}

// mayChange reports whether a call, which is not planned for that, may change what an entry says or that it is there.
func (v *Verbs) mayChange(c sdk.EntryCall, path string) bool {
	all, _ := summarized(c)
	switch named := canonical(c.Path); {
	case c.Verb == sdk.VerbUpdate:
		return sdk.SchemeOf(path) == string(sdk.VerbUpdate)
	case onlyLooks(c):
		return false
	case c.Verb == sdk.VerbCopy || c.Verb == sdk.VerbMove:
		return canonical(c.To) == path || c.Verb == sdk.VerbMove && named == path
	case c.Verb != sdk.VerbSet && c.Verb != sdk.VerbRemove, all.looks():
		return false
	case named == path:
		return true
	case c.Body != nil && !c.Pattern && !editsThere(c.Body):
		return false
	default:
		pattern, plain, err := v.patterns()(named)
		if plain || err != nil {
			return false
		}
		fits, err := pattern.Match(path)
		return fits || err != nil
	}
}

// text is that of an entry which cp or mv takes to a file.
func (v *Verbs) text(ctx context.Context, use sdk.EntryUse, verb sdk.Verb, path string) (string, error) {
	x, err := v.plan(ctx, use).source(verb, path)
	if err != nil {
		return "", err
	}
	return x.Body, nil
}

func changedBefore(verb sdk.Verb, path string) error {
	return sdk.Errorf(sdk.Conflict, "a call before this one in the same answer changes %s: %s it in the next", path, verb)
}

// leave is the write by which an entry goes that was moved to a file, when it still is as it was.
func (v *Verbs) leave(ctx context.Context, use sdk.EntryUse, path, body string) ([]sdk.Write, error) {
	p := v.plan(ctx, use)
	x, err := p.source(sdk.VerbMove, path)
	switch {
	case err != nil:
		return nil, err
	case x.Body != body:
		return nil, sdk.Errorf(sdk.Conflict, "%s was changed meanwhile", path)
	case x.Version == 0: // archived for the run as it is
		return nil, nil
	}
	w := p.removal(x)
	w.ExpectHash = x.Hash
	return []sdk.Write{w}, nil
}

// ChangesFile reports whether a call of a client stands for one of the files plugin.
func (v *Verbs) ChangesFile(c sdk.EntryCall) bool {
	return v.fileTool(c.Verb, fileArguments{path: c.Path, to: c.To, body: c.Body != nil, pick: c.Pattern, looks: onlyLooks(c)}) != ""
}

// source is the entry that cp or mv takes to a file.
func (p *plan) source(verb sdk.Verb, path string) (*sight, error) {
	x, err := p.find(path)
	if err != nil {
		return nil, err
	}
	may := p.reads
	if verb == sdk.VerbMove {
		may = p.changes
	}
	if err := may(path); err != nil {
		return nil, err
	}
	switch {
	case !x.there:
		return nil, nothing(path)
	case !x.State.Ended():
		return nil, sdk.Errorf(sdk.Conflict, "%s is %s, so nobody knows what it will hold; wait for its end", path, x.State)
	}
	return x, nil
}
