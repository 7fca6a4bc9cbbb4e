package main

import (
	"fmt"
	"os"
	"unicode/utf8"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/edit"
)

type tagsEditCmd struct{ verbs.TagsEdit }

// edited is what an edit comes to, as it is printed.
type edited struct {
	Body     string         `json:"body"`
	Warnings []edit.Warning `json:"warnings"` // never null
	Error    *editFault     `json:"error"`
}

// editFault is why the body is as it was.
type editFault struct {
	Code    sdk.Outcome `json:"code"`
	Message string      `json:"message"`
}

// Run exits with 0 when what an edit comes to is printed as JSON, which says whether it
// could be made.
func (cmd tagsEditCmd) Run(c *console) error {
	body, err := cmd.body()
	if err != nil {
		return err
	}
	text, err := standardInput(c, "the edit")
	if err == nil {
		err = onlyText("the edit", text)
	}
	if err != nil {
		return err
	}
	out, err := makeEdit(text, body)
	if err != nil && c.json {
		out.Error, err = &editFault{sdk.OutcomeOf(err), err.Error()}, nil
	}
	return report(c, out, err, printEdited)
}

// body is the text that is edited.
func (cmd tagsEditCmd) body() (string, error) {
	f, err := os.Open(cmd.Body)
	if err != nil {
		return "", sdk.Errorf(sdk.NotFound, "--body: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	body, err := readText(f, cmd.Body)
	if err != nil {
		return "", err
	}
	return body, onlyText(cmd.Body, body)
}

// onlyText refuses what could not be printed as JSON byte by byte.
func onlyText(what, text string) error {
	if !utf8.ValidString(text) {
		return sdk.Errorf(sdk.Validation, "%s is no text in UTF-8", what)
	}
	return nil
}

// makeEdit is what becomes of a body, which stays as it is beside an error.
func makeEdit(text, body string) (edited, error) {
	out := edited{Body: body, Warnings: []edit.Warning{}}
	e, err := edit.Parse(text)
	if err != nil {
		return out, err
	}
	made, err := e.Apply(body)
	if err != nil {
		return out, err
	}
	out.Body, out.Warnings = made.Body, append(out.Warnings, made.Warnings...)
	return out, nil
}

func printEdited(c *console, out edited) error {
	for _, w := range out.Warnings {
		c.say("%s", w.Message)
	}
	_, err := fmt.Fprint(c.out, out.Body)
	return err
}
