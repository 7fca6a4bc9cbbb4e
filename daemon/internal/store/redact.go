package store

import (
	"encoding/json"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// Redactor takes secrets out of what is about to be stored. Hashes and the
// journal are of what it leaves.
type Redactor interface {
	Redact(text string) string
	// JSON returns JSON; the same bytes when there is nothing to hide. Contents of
	// a file (sdk.Splice) are left out whole when they hold a secret.
	JSON(raw json.RawMessage) json.RawMessage
	// RedactAround is Redact for a text in which places stay apart: of a secret that reaches over one each side is hidden by
	// itself. It says where the places are then; they are given in their order.
	RedactAround(text string, places []int) (clean string, moved []int)
}

// nothingHidden leaves everything as it is.
type nothingHidden struct{}

func (nothingHidden) Redact(text string) string                { return text }
func (nothingHidden) JSON(raw json.RawMessage) json.RawMessage { return raw }
func (nothingHidden) RedactAround(text string, places []int) (clean string, moved []int) {
	return text, places
}

// changeScheme is where it is kept what was changed in a project's files, and agentScheme how agents were with which
// loops began. Their bodies are JSON.
const (
	changeScheme = "change"
	agentScheme  = "agent"
)

// withoutSecrets is a change as it is stored. It is a copy where it differs:
// what runs is what the caller has, with every byte.
func (s *Store) withoutSecrets(c sdk.Change) (sdk.Change, error) {
	writes := make([]sdk.Write, len(c.Writes))
	for i, w := range c.Writes {
		var err error
		if writes[i], err = s.cleanWrite(w); err != nil {
			return c, err
		}
	}
	c.Writes = writes
	for _, notes := range []*[]sdk.Note{&c.Before, &c.Notes} {
		clean := make([]sdk.Note, len(*notes))
		for i, n := range *notes {
			var err error
			if clean[i], err = s.cleanNote(n); err != nil {
				return c, err
			}
		}
		*notes = clean
	}
	if c.EndLoop != nil {
		end := *c.EndLoop
		end.Reason = s.redactor.Redact(end.Reason)
		c.EndLoop = &end
	}
	c.Children = slices.Clone(c.Children)
	for i := range c.Children {
		l := &c.Children[i].Loop
		s.cleanLoop(l)
		var err error
		if l.Change, err = s.cleanRunChange(l.Change); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (s *Store) cleanWrite(w sdk.Write) (sdk.Write, error) {
	if err := s.refuseSecret("a path", w.Path); err != nil {
		return w, err
	}
	switch reply, err := foundIn(w); {
	case err != nil:
		return w, err
	case reply != nil:
		return s.cleanReply(w, reply)
	case w.Body == nil:
	case sdk.SchemeOf(w.Path) == changeScheme, sdk.SchemeOf(w.Path) == agentScheme:
		w.Body = new(string(s.redactor.JSON(json.RawMessage(*w.Body))))
	default:
		w.Body = new(s.redactor.Redact(*w.Body))
	}
	if w.Chunk != nil {
		w.Chunk = &sdk.Chunk{Channel: w.Chunk.Channel, Text: s.redactor.Redact(w.Chunk.Text)}
	}
	if w.Attributes != nil {
		w.Attributes = s.cleanObject(w.Attributes)
	}
	w.Outcome = sdk.Outcome(s.redactor.Redact(string(w.Outcome)))
	return w, nil
}

// cleanRunChange is what a prompt changes in its run, as it is stored.
func (s *Store) cleanRunChange(c *sdk.RunChange) (*sdk.RunChange, error) {
	if c == nil {
		return nil, nil
	}
	clean := &sdk.RunChange{Configure: c.Configure}
	for _, w := range c.Writes {
		w, err := s.cleanWrite(w)
		if err != nil {
			return nil, err
		}
		clean.Writes = append(clean.Writes, w)
	}
	return clean, nil
}

// cleanLoop takes secrets out of a prompt that is queued.
func (s *Store) cleanLoop(l *sdk.Loop) {
	l.Prompt = s.redactor.Redact(l.Prompt)
	if l.Meaning != nil {
		// Of media, whoever queues it has refused those with a secret: a piece of one is none.
		l.Meaning = &sdk.Meaning{Skill: s.redactor.Redact(l.Meaning.Skill), Text: s.redactor.Redact(l.Meaning.Text), Media: l.Meaning.Media}
	}
	if l.Options != nil {
		l.Options = s.cleanObject(l.Options)
	}
}

// refuseSecret refuses what cannot be stored with a part of it hidden, since it
// is what a thing is found by.
func (s *Store) refuseSecret(what, name string) error {
	if clean := s.redactor.Redact(name); clean != name {
		return sdk.Errorf(sdk.Validation, "%s must not hold a secret: %q; choose another", what, clean)
	}
	return nil
}

// cleanObject keeps attributes an object, also when they as a whole are a secret.
func (s *Store) cleanObject(raw json.RawMessage) json.RawMessage {
	clean := s.redactor.JSON(raw)
	if len(raw) > 0 && len(clean) > 0 && raw[0] == '{' && clean[0] != '{' {
		return json.RawMessage(`{}`)
	}
	return clean
}

func (s *Store) cleanNote(n sdk.Note) (sdk.Note, error) {
	if n.Data == nil {
		return n, nil
	}
	raw, err := json.Marshal(n.Data)
	if err != nil {
		return n, sdk.Errorf(sdk.Validation, "the data of a note must be JSON: %w", err)
	}
	n.Data = s.cleanObject(raw)
	return n, nil
}
