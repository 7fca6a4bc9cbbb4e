package protect

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// gitConfigChange judges what became of a repository's configuration, by its
// text. What is not written as git itself writes it is refused: another reader
// might see more in it.
func gitConfigChange(c Change, at string) Finding {
	refused := Finding{Refused, byGit, at, false}
	if c.Is != File || c.Was != File && c.Was != Nothing {
		return refused
	}
	now, ok := contents(c.Read)
	if !ok {
		return refused
	}
	var was []byte
	if c.Was == File {
		if was, ok = contents(c.ReadBefore); !ok {
			return refused
		}
	}
	kept, asked := withoutServers(now), Finding{Asked, byRemote, at, false}
	switch {
	case bytes.Equal(now, was):
		return Finding{} // its mode or its times are others
	case c.Was == File && bytes.Equal(kept, withoutServers(was)):
		return asked
	case c.Was == Nothing && onlyInit(kept) && len(kept) == len(now):
		return Finding{}
	case c.Was == Nothing && onlyInit(kept):
		return asked
	}
	return refused
}

func contents(read func() ([]byte, error)) ([]byte, bool) {
	if read == nil {
		return nil, false
	}
	text, err := read()
	return text, err == nil && len(text) <= gitConfigBytes && !bytes.ContainsRune(text, 0)
}

// The lines of sections that say with which servers branches go. Their values
// hold nothing that could be read as more than a name or an address.
var (
	serverHeader = regexp.MustCompile(`^\[(branch|remote) "([^\x00-\x1f\x7f"\\\[\]]+)"\]$`)
	plainSetting = regexp.MustCompile(`^\t([A-Za-z-]+) = ([^\x00-\x1f\x7f"\\#;]*[^\x00-\x20\x7f"\\#;])$`)
	serverKeys   = map[string][]string{
		"branch": {"remote", "merge", "rebase", "pushremote", "vscode-merge-base", "gh-merge-base"},
		"remote": {"url", "pushurl", "fetch", "tagopt", "prune", "prunetags", "skipfetchall", "skipdefaultupdate"},
	}
)

// withoutServers is the text of a configuration without the sections that say
// nothing but with which servers branches go. A section goes only as a whole,
// and only where it cannot be part of what stands before or behind it.
func withoutServers(text []byte) []byte {
	lines := strings.SplitAfter(string(text), "\n")
	var kept strings.Builder
	for i := 0; i < len(lines); {
		if n := serverLines(lines[i:]); n > 0 && (i == 0 || closed(lines[i-1])) {
			i += n
			continue
		}
		kept.WriteString(lines[i])
		i++
	}
	return []byte(kept.String())
}

// closed says whether the line behind begins anew.
func closed(line string) bool {
	body, ended := strings.CutSuffix(line, "\n")
	return ended && !strings.HasSuffix(strings.TrimSuffix(body, "\r"), `\`)
}

// serverLines says how many lines at the beginning are one such section, 0 when
// it has anything else.
func serverLines(lines []string) int {
	header := serverHeader.FindStringSubmatch(strings.TrimSuffix(lines[0], "\n"))
	if header == nil || !strings.HasSuffix(lines[0], "\n") {
		return 0
	}
	n := 1
	for ; n < len(lines) && lines[n] != "" && !strings.HasPrefix(lines[n], "["); n++ {
		set := plainSetting.FindStringSubmatch(strings.TrimSuffix(lines[n], "\n"))
		if set == nil || !strings.HasSuffix(lines[n], "\n") || !slices.Contains(serverKeys[header[1]], strings.ToLower(set[1])) || runsProgram(set[2]) {
			return 0
		}
	}
	return n
}

// runsProgram says whether an address makes git run what it names, or hands a
// program an option.
func runsProgram(address string) bool {
	_, host, _ := strings.Cut(address, "://")
	return strings.Contains(address, "::") || strings.HasPrefix(address, "-") || strings.HasPrefix(host, "-")
}

// initKeys are what git writes into a new repository's configuration, and what
// the values may be.
var initKeys = map[string]map[string]*regexp.Regexp{
	"[core]": {
		"repositoryformatversion": regexp.MustCompile(`^[01]$`), "filemode": boolean, "bare": boolean, "logallrefupdates": regexp.MustCompile(`^(true|false|always)$`),
		"ignorecase": boolean, "precomposeunicode": boolean, "symlinks": boolean, "sharedrepository": regexp.MustCompile(`^[0-7]{1,4}$`),
	},
	"[extensions]": {"objectformat": regexp.MustCompile(`^sha(1|256)$`), "refstorage": regexp.MustCompile(`^(files|reftable)$`)},
	"[receive]":    {"denynonfastforwards": boolean},
}

var boolean = regexp.MustCompile(`^(true|false)$`)

// onlyInit says whether a configuration has nothing but what git writes into a new
// one.
func onlyInit(text []byte) bool {
	var keys map[string]*regexp.Regexp
	for line := range strings.SplitAfterSeq(string(text), "\n") {
		if line == "" {
			continue
		}
		body, ended := strings.CutSuffix(line, "\n")
		if section, is := initKeys[body]; is && ended {
			keys = section
			continue
		}
		set := plainSetting.FindStringSubmatch(body)
		if set == nil || !ended {
			return false
		}
		if value := keys[strings.ToLower(set[1])]; value == nil || !value.MatchString(set[2]) {
			return false
		}
	}
	return true
}

// replacedRefs says whether the packed references of a repository have others than
// before that put one object in the place of another.
func replacedRefs(c Change) bool {
	if c.Is != File {
		return c.Is != Nothing
	}
	now, ok := contents(c.Read)
	if !ok {
		return true
	}
	var was []byte
	if c.Was == File {
		was, _ = contents(c.ReadBefore) // what cannot be read had none that are let in again
	}
	return !slices.Equal(replacing(now), replacing(was))
}

func replacing(text []byte) (lines []string) {
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if bytes.Contains(line, []byte("refs/replace/")) {
			lines = append(lines, string(line))
		}
	}
	return lines
}

// namesDrivers says whether a file of attributes names programs by the names that
// configuration gives them. One that went names none.
func namesDrivers(c Change) bool {
	switch c.Is {
	case Nothing:
		return false
	case File:
	default:
		return true
	}
	text, ok := contents(c.Read)
	if !ok {
		return true
	}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		line = bytes.ToLower(bytes.TrimLeft(line, " \t\r\xef\xbb\xbf"))
		if bytes.HasPrefix(line, []byte("#")) {
			continue
		}
		for _, driver := range []string{"filter=", "diff=", "merge="} {
			if bytes.Contains(line, []byte(driver)) {
				return true
			}
		}
	}
	return false
}
