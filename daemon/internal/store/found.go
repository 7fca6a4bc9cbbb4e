package store

import (
	"bytes"

	"github.com/bothyd/bothy/sdk"
)

// foundMark is how attributes look that may have Reply.Found.
var foundMark = []byte(`"found":[`)

// foundIn is the reply whose text is written with calls in it; nil of any other write.
func foundIn(w sdk.Write) (*sdk.Reply, error) {
	if _, is := sdk.ParseReplyPath(w.Path); !is || w.Body == nil || !bytes.Contains(w.Attributes, foundMark) {
		return nil, nil
	}
	r, err := sdk.ReplyOf(w.Attributes)
	if err != nil {
		return nil, sdk.Errorf(sdk.Validation, "the reply %s cannot be read: %w", w.Path, err)
	}
	if len(r.Found) == 0 {
		return nil, nil
	}
	return &r, nil
}

// cleanReply is a reply as it is stored. What is hidden in its text takes no call away and joins no two: each is where it is then.
func (s *Store) cleanReply(w sdk.Write, r *sdk.Reply) (sdk.Write, error) {
	for i := range r.Found {
		f := &r.Found[i]
		f.ID, f.Tool = s.redactor.Redact(f.ID), s.redactor.Redact(f.Tool)
	}
	ends := r.Places()
	places := make([]int, len(ends))
	for i, end := range ends {
		if places[i] = *end; *end < 0 || *end > len(*w.Body) {
			return w, sdk.Errorf(sdk.Internal, "the reply %s has a call where it has no text", w.Path)
		}
	}
	text, moved := s.redactor.RedactAround(*w.Body, places)
	for i, end := range ends {
		*end = moved[i]
	}
	all, err := parseMembers(s.cleanObject(w.Attributes))
	if err == nil {
		all["found"], err = encode(r.Found)
	}
	if err == nil {
		w.Attributes, err = encodeMembers(all)
	}
	w.Body = &text
	return w, err
}
