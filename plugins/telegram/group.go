package main

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"
)

const (
	// longText is from how many units on a text may be the first part of one that Telegram split.
	longText = 4000
	// together is how far from each other the parts of one come.
	together = time.Second
)

// group is what somebody wrote at once: a message, an album, or a text that Telegram split.
type group []*message

// groups puts together what belongs together, of messages in the order in which they were written. It looks at nothing
// else, so that the same messages are the same groups when they come again.
func groups(messages []*message) (all []group) {
	for _, m := range messages {
		if i := slices.IndexFunc(all, func(g group) bool { return g.goesOn(m) }); i >= 0 {
			all[i] = append(all[i], m)
			continue
		}
		all = append(all, group{m})
	}
	return all
}

// goesOn reports whether a message is a further part of the group.
func (g group) goesOn(m *message) bool {
	last := g[len(g)-1]
	if last.place() != m.place() || last.From.ID != m.From.ID || m.sent().Sub(last.sent()).Abs() > together {
		return false
	}
	if m.Album != "" || last.Album != "" {
		return m.Album == last.Album
	}
	return last.mayGoOn() && m.Text != "" && !strings.HasPrefix(m.Text, "/") && last.borrowed() == m.borrowed()
}

// mayGoOn reports whether more of the same may come behind a message.
func (m *message) mayGoOn() bool { return m.Album != "" || units(m.Text) >= longText }

// mayGoOn reports whether one of the groups may not be whole yet.
func mayGoOn(all []group) bool {
	return slices.ContainsFunc(all, func(g group) bool { return g[len(g)-1].mayGoOn() })
}

// words are what the group says.
func (g group) words() string {
	var all []string
	for _, m := range g {
		if w := m.words(); strings.TrimSpace(w) != "" {
			all = append(all, w)
		}
	}
	return strings.Join(all, "\n")
}

// attachment is a file that came with a message.
type attachment struct {
	file
	picture bool
}

// files are the files of the group that are taken; others names those that are not.
func (g group) files() (files []attachment, others []string) {
	for _, m := range g {
		switch {
		case len(m.Photo) > 0:
			largest := slices.MaxFunc(m.Photo, func(a, b file) int { return cmp.Compare(a.Size, b.Size) })
			largest.Name = "photo-" + number(m.ID) + ".jpg"
			files = append(files, attachment{largest, true})
		case m.Document != nil:
			f := *m.Document
			f.Name = fileName(f.Name, m.ID)
			files = append(files, attachment{file: f})
		case m.Voice != nil:
			others = append(others, "voice messages")
		case m.Audio != nil:
			others = append(others, "audio")
		case m.Video != nil || m.Note != nil:
			others = append(others, "videos")
		case m.Sticker != nil:
			others = append(others, "stickers")
		}
	}
	slices.Sort(others)
	return files, slices.Compact(others)
}

// fileName is the name of a file as the service gives it, without what a name cannot have everywhere. It names a file
// beside others: never a folder, never a hidden one.
func fileName(name string, message int64) string {
	name = strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-", c):
			return c
		case c < ' ' || c == 0x7f:
			return -1
		}
		return '_'
	}, name)
	name = strings.TrimLeft(name, ".")
	if ext := path.Ext(name); len(name) > 80 {
		name = name[:80-min(len(ext), 10)] + ext[:min(len(ext), 10)]
	}
	if name == "" {
		name = "file"
	}
	return number(message) + "-" + name
}
