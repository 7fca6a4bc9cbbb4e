package view

import "github.com/bothyd/bothy/sdk"

// notShown stands where messages are left out, always in the same words.
const notShown = "[Earlier messages of this conversation are not shown.]"

// last leaves out what was said long ago, where only so many of the last messages are to be shown (0 is all). What stays
// together goes together: an answer with the results of its calls. The first prompt stays, the current one with all that came of
// it, and the text of a skill that the model works by.
func last(messages []sdk.Message, most int) []sdk.Message {
	if most <= 0 || len(messages) <= most {
		return messages
	}
	segments := split(messages)
	first, now := true, 0
	for i := range segments {
		if s := &segments[i]; !s.turn {
			s.keep, first, now = first || s.skill, false, i
		} else {
			s.keep = s.skill
		}
	}
	left := most
	for i := len(segments) - 1; i >= 0; i-- {
		left -= len(segments[i].messages)
		segments[i].keep = segments[i].keep || i >= now || left >= 0
	}
	out := make([]sdk.Message, 0, most+2)
	said := false
	for _, s := range segments {
		switch {
		case s.keep:
			out = append(out, s.messages...)
		case !said:
			said = true
			out = append(out, sdk.Message{Role: sdk.RoleUser, Text: notShown})
		}
	}
	return out
}
