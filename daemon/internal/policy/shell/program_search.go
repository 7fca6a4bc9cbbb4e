package shell

import (
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk/protect"
)

// searchPrograms look for text or for names.
var searchPrograms = map[string]usage{
	"grep":  grep,
	"egrep": grep,
	"fgrep": grep,
	"rg": {
		short: "e:f<g:t:T:A:B:C:m:j:M:d:r:E:isSvwxFnNcloqaULPupHI0bV.h", operands: ":<", exact: true, also: noSecretNames,
		instead: "e f regexp file files type-list",
		long: "regexp: file< glob: iglob: type: type-not: type-add: type-clear: type-list after-context: before-context: context: " +
			"max-count: max-depth: maxdepth: max-columns: max-columns-preview max-filesize: threads: replace: encoding: " +
			"ignore-case case-sensitive smart-case invert-match word-regexp line-regexp fixed-strings no-fixed-strings " +
			"line-number no-line-number count count-matches files-with-matches files-without-match only-matching quiet text " +
			"multiline multiline-dotall pcre2 unrestricted pretty with-filename no-filename hidden no-hidden ignore-file< " +
			"no-ignore no-ignore-vcs no-ignore-parent no-ignore-dot no-ignore-global no-ignore-files no-ignore-exclude files json " +
			"stats no-stats sort: sortr: sort-files color: colors: heading no-heading column no-column byte-offset trim vimgrep " +
			"null null-data passthru passthrough crlf follow one-file-system glob-case-insensitive binary debug trace " +
			"no-messages no-config context-separator: field-match-separator: field-context-separator: path-separator: engine: " +
			"auto-hybrid-regex block-buffered line-buffered mmap no-mmap include-zero stop-on-nonmatch no-require-git " +
			"regex-size-limit: dfa-size-limit: no-unicode pcre2-version !pre: !pre-glob: !hostname-bin: !search-zip " +
			"!hyperlink-format:",
	},
	"fd":     fd,
	"fdfind": fd,
}

// noSecretNames refuses to look for names that only credentials have: what is in
// the files would be shown.
func noSecretNames(r *reading) finding {
	for i, word := range r.argv[1:] {
		_, name, glued := strings.Cut(word, "=")
		switch {
		case glued && (strings.HasPrefix(word, "--in") || strings.HasPrefix(word, "--glob") || strings.HasPrefix(word, "--iglob")):
		case slices.Contains([]string{"--include", "-g", "--glob", "--iglob"}, word) && i+2 < len(r.argv):
			name = r.argv[i+2]
		case strings.HasPrefix(word, "-g") && r.argv[0] == "rg":
			name = word[2:]
		default:
			continue
		}
		name = name[strings.LastIndexByte(name, '/')+1:]
		if protect.SecretPattern(name) {
			return r.leaks(name)
		}
	}
	return finding{}
}

var grep = usage{
	also:  noSecretNames,
	short: "EFGPVivwxclLoqsnHhabrRTUzyZIe:f<m:A:B:C:d:D:", operands: ":<", instead: "e f regexp file", digits: true,
	long: "extended-regexp fixed-strings basic-regexp perl-regexp regexp: file< ignore-case no-ignore-case word-regexp " +
		"line-regexp null-data no-messages invert-match max-count: byte-offset line-number line-buffered with-filename " +
		"no-filename label: only-matching quiet silent binary-files: text directories: devices: recursive " +
		"dereference-recursive include: exclude: exclude-from< exclude-dir: files-without-match files-with-matches count " +
		"initial-tab null before-context: after-context: context: group-separator: no-group-separator color? colour? binary " +
		"unix-byte-offsets",
}

var fd = usage{
	short: "HIusigaLpF01qe:t:E:S:d:j:c:C<", operands: ":<", exact: true, names: true,
	long: "hidden no-ignore no-ignore-vcs no-ignore-parent unrestricted case-sensitive ignore-case glob regex fixed-strings " +
		"absolute-path follow full-path print0 max-depth: min-depth: exact-depth: exclude: prune type: extension: size: " +
		"changed-within: changed-before: color: threads: max-results: quiet show-errors base-directory< search-path< " +
		"path-separator: strip-cwd-prefix? one-file-system and: ignore-file< !exec !exec-batch !list-details",
}

// The words of find: tests and actions without a value, those with a word, and
// those with a path. Every other one, -exec and -delete among them, is not
// proven.
var (
	findFlags = strings.Fields("-a -and -daystart -depth -d -empty -executable -false -follow -ignore_readdir_race -ls -mount " +
		"-nogroup -noignore_readdir_race -noleaf -not -nouser -nowarn -o -or -print -print0 -prune -quit -readable -true -warn " +
		"-writable -xdev -H -L -P ( ) ! , -help --help -version --version")
	findWords = strings.Fields("-amin -atime -cmin -context -ctime -fstype -gid -group -ilname -iname -inum -ipath -iregex " +
		"-iwholename -links -lname -maxdepth -mindepth -mmin -mtime -name -newermt -newerat -newerct -path -perm -printf -regex " +
		"-regextype -size -type -uid -used -user -wholename -xtype -D")
	findPaths = strings.Fields("-anewer -cnewer -newer -samefile")
)

// find is a language of its own: paths first, then an expression.
func find(c call) finding {
	var worst finding
	paths, expression := 0, false
	for i := 1; i < len(c.argv); i++ {
		word := c.argv[i]
		switch {
		case c.glob(i):
			worst = worse(worst, c.unproven("shell.glob", "the pattern %q is expanded before find sees it; quote it", word))
		case slices.Contains(findFlags, word):
			expression = expression || !slices.Contains([]string{"-H", "-L", "-P"}, word)
		case slices.Contains(findWords, word), slices.Contains(findPaths, word):
			if i++; i < len(c.argv) {
				worst = worse(worst, findValue(c, i))
			}
			expression = expression || word != "-D"
		case len(word) == 3 && strings.HasPrefix(word, "-O") && isDigits(word[2:]):
		case expression || strings.HasPrefix(word, "-"):
			worst = worse(worst, c.unproven("shell.option", "%q of find may run, change or read more than names; only print what is found, and work on that", word))
		default:
			paths++
			worst = worse(worst, c.reads(word, true))
		}
	}
	if paths == 0 {
		worst = worse(worst, c.reads(".", true))
	}
	return c.orSecret(worst, true)
}

func findValue(c call, i int) finding {
	switch {
	case c.glob(i):
		return c.unproven("shell.glob", "the pattern %q is expanded before find sees it; quote it", c.argv[i])
	case slices.Contains(findPaths, c.argv[i-1]):
		return c.reads(c.argv[i], true)
	default:
		return finding{}
	}
}
