package builtin

import (
	"encoding/json"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/edit"
)

// What a model writes into the body of set is an edit (decision 125). A client and a plugin give the text as it is to be: a
// document of theirs may hold markers.

// readEdit reads the body of a model.
func (p *plan) readEdit(c *call) error {
	if c.Body == nil || p.use.Writer != sdk.WriterModel {
		return nil
	}
	e, err := edit.Parse(*c.Body)
	switch {
	case err != nil:
		return sdk.Errorf(sdk.OutcomeOf(err), "%s: %w", c.Path, err)
	case !c.Append:
		c.edit = &e
	case e.Marked():
		return sdk.Errorf(sdk.Validation, "%s: append puts the body behind what is there as it stands, and this one has markers: leave append out, and write the lines between <<APPEND and APPEND", c.Path)
	}
	return nil
}

// picks reports whether the path, where no entry has it, is a pattern of which all that fit are changed: without a body, with
// pattern, and with an edit of a text that has to be there.
func (c call) picks() bool { return c.Body == nil || c.Pattern || c.edits() }

// edits reports whether the body has regions that are made on what is there.
func (c call) edits() bool { return c.edit != nil && c.edit.Marked() && !c.edit.Whole() }

// edited gives a write the text that an edit makes of an entry, and says what the model should hear of it. Where the text that
// was there counts, it must still be that when it is written.
func (p *plan) edited(c call, x *sight, w *sdk.Write) (string, error) {
	was := ""
	if x.there && (!c.edit.Whole() || strings.TrimSpace(*c.Body) == "") {
		read, err := p.see(x.Path, true)
		if err != nil {
			return "", err
		}
		was = read.Body
		x.expect(w)
	}
	if strings.TrimSpace(*c.Body) == "" && was == "" { // a name may be all that there is to an entry
		written(c, w, *c.Body)
		return "", nil
	}
	r, err := c.edit.Apply(was)
	if err != nil {
		return "", sdk.Errorf(sdk.OutcomeOf(err), "%s: %w", x.Path, err)
	}
	written(c, w, r.Body)
	told := ""
	for _, warning := range r.Warnings {
		told += "; " + warning.Message
	}
	return told, nil
}

// editsThere reports whether a model's body has regions that are made on what is there.
func editsThere(body *string) bool {
	if body == nil {
		return false
	}
	e, err := edit.Parse(*body)
	return err == nil && e.Marked() && !e.Whole()
}

// editsFile reports whether a model's set of a file is made on what the file has, which edit_file does: all but a text as it
// stands, and one region for all of it. What is refused whatever the file has is not.
func editsFile(arguments json.RawMessage) bool {
	var c sdk.EntryCall
	if json.Unmarshal(arguments, &c) != nil || c.Body == nil {
		return false
	}
	e, err := edit.Parse(*c.Body)
	if err != nil || e.Whole() && !e.Marked() {
		return false
	}
	r, err := e.Apply("")
	return !e.Whole() || err != nil || len(r.Warnings) > 0 // which the tool tells
}

// wholeText is the text that a file gets from a set, whatever it has.
func (v verbTurn) wholeText(c sdk.EntryCall) (string, error) {
	if v.use.Writer != sdk.WriterModel {
		return *c.Body, nil
	}
	e, err := edit.Parse(*c.Body)
	if err != nil {
		return "", err
	}
	r, err := e.Apply("")
	return r.Body, err
}
