package shell

// What the commands of git share. A long option that takes a value has "?",
// since git takes some only behind "=": what follows is judged as a word.
const (
	gitDiffShort = "pusU?azbwWrRM?C?B?DS:G:l:X?tcm"
	gitDiffLong  = " patch no-patch raw patch-with-raw patch-with-stat unified? stat? compact-summary numstat shortstat summary " +
		"dirstat? cumulative name-only name-status submodule? color? no-color color-moved? no-color-moved color-moved-ws? " +
		"word-diff? word-diff-regex? color-words? no-renames rename-empty no-rename-empty check full-index binary abbrev? " +
		"no-abbrev break-rewrites? find-renames? find-copies? find-copies-harder irreversible-delete diff-filter? " +
		"pickaxe-all pickaxe-regex pickaxe? skip-to? rotate-to? relative? no-relative text ignore-cr-at-eol " +
		"ignore-space-at-eol ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines? " +
		"inter-hunk-context? function-context exit-code quiet no-ext-diff no-textconv ignore-submodules? src-prefix? " +
		"dst-prefix? no-prefix default-prefix line-prefix? ita-invisible-in-index ita-visible-in-index minimal patience " +
		"histogram diff-algorithm? anchored? indent-heuristic no-indent-heuristic combined-all-paths cc " +
		"!output? !output-indicator-new? !output-indicator-old? !output-indicator-context? !ext-diff !textconv !orderfile? " +
		"!no-index "
	gitLogShort = gitDiffShort + "n:i" + "EFPqgL:"
	gitLogLong  = gitDiffLong + " follow decorate? no-decorate decorate-refs? decorate-refs-exclude? source full-diff log-size " +
		"max-count? skip? since? after? until? before? author? committer? grep? grep-reflog? all-match invert-grep " +
		"regexp-ignore-case basic-regexp extended-regexp fixed-strings perl-regexp merges no-merges min-parents? " +
		"max-parents? first-parent not all branches? tags? remotes? glob? exclude? reflog merge cherry-mark cherry-pick " +
		"cherry left-only right-only left-right walk-reflogs boundary simplify-by-decoration dense sparse full-history " +
		"simplify-merges ancestry-path? show-pulls date-order author-date-order topo-order reverse no-walk? do-walk pretty? " +
		"format? abbrev-commit no-abbrev-commit oneline encoding? notes? no-notes show-notes? date? relative-date parents " +
		"children graph show-linear-break? mailmap use-mailmap no-mailmap clear-decorations expand-tabs? no-expand-tabs " +
		"remerge-diff no-diff-merges diff-merges? dd root "
)

var (
	gitDiffing = usage{short: gitDiffShort + "123q0", long: gitDiffLong + "cached staged merge-base base ours theirs", operands: "<", digits: true}
	gitLogging = usage{short: gitLogShort, long: gitLogLong, operands: "<", digits: true}
	gitRefs    = usage{
		short: "s", operands: "<", names: true,
		long: "count? sort? format? color? shell perl python tcl merged? no-merged? contains? no-contains? points-at? ignore-case " +
			"heads tags branches head dereference hash? abbrev? verify quiet exclude-existing? omit-empty include-root-refs",
	}
)

// gitCommands are those that only read, each with what it may be told.
var gitCommands = ready(map[string]usage{
	"log":          gitLogging,
	"show":         gitLogging,
	"whatchanged":  gitLogging,
	"reflog":       {short: gitLogShort, long: gitLogLong, operands: "<", digits: true, also: gitFirst("", "show", "list")},
	"diff":         gitDiffing,
	"diff-tree":    {short: gitDiffShort + "sv", long: gitDiffLong + "root always no-commit-id pretty? format? merge-base", operands: "<"},
	"diff-index":   gitDiffing,
	"diff-files":   gitDiffing,
	"for-each-ref": gitRefs,
	"show-ref":     gitRefs,
	"status": {
		short: "sbvu?zhM?", operands: "<", names: true,
		long: "short branch show-stash porcelain? long verbose untracked-files? ignore-submodules? ignored? column? no-column " +
			"ahead-behind no-ahead-behind renames no-renames find-renames?",
	},
	"branch": {
		short: "alrvi", operands: "<", names: true, also: gitListing,
		long: "all list remotes verbose show-current contains? no-contains? merged? no-merged? points-at? sort? format? color? " +
			"no-color column? no-column abbrev? no-abbrev ignore-case !delete !move !copy !force !edit-description " +
			"!set-upstream-to? !unset-upstream !track? !create-reflog !recurse-submodules",
	},
	"tag": {
		short: "lin?", operands: "<", names: true, also: gitListing,
		long: "list contains? no-contains? merged? no-merged? points-at? sort? format? color? column? no-column ignore-case " +
			"!annotate !sign !local-user? !force !delete !verify !message? !file? !edit !cleanup? !create-reflog",
	},
	"rev-parse": {
		short: "q", operands: "<", names: true,
		long: "verify quiet short? abbrev-ref? symbolic symbolic-full-name all branches? tags? remotes? git-dir absolute-git-dir " +
			"git-common-dir show-toplevel show-prefix show-cdup show-superproject-working-tree is-inside-git-dir " +
			"is-inside-work-tree is-bare-repository is-shallow-repository shared-index-path git-path? show-object-format? revs-only no-revs flags no-flags not since? until? " +
			"!parseopt !sq-quote !sq !local-env-vars !resolve-git-dir? !prefix? !path-format?",
	},
	"rev-list":   {short: gitLogShort, long: gitLogLong + "count objects timestamp header disk-usage? quiet", operands: "<", digits: true},
	"merge-base": {short: "a", long: "all octopus independent is-ancestor fork-point", operands: "<", names: true},
	"name-rev":   {long: "tags refs? all name-only always no-undefined", operands: "<", names: true},
	"ls-files": {
		short: "cdmoiskutvfzx:X<", operands: "<", names: true,
		long: "cached deleted modified others ignored stage killed unmerged directory no-empty-directory eol deduplicate " +
			"exclude? exclude-standard error-unmatch full-name abbrev? format? !recurse-submodules !with-tree? " +
			"!exclude-from? !exclude-per-directory? !resolve-undo !debug !sparse",
	},
	"ls-tree": {short: "drtlz", long: "long name-only name-status object-only full-name full-tree abbrev? format?", operands: "<", names: true},
	"blame": {
		short: "L:ltsewM?C?pfnbc", operands: "<",
		long: "porcelain line-porcelain show-email show-name show-number show-stats score-debug since? until? date? root " +
			"first-parent incremental abbrev? color-lines color-by-age ignore-rev? encoding? progress no-progress minimal " +
			"!ignore-revs-file? !contents? !reverse",
	},
	"describe": {
		operands: "<", names: true,
		long: "all tags long dirty? broken? always abbrev? match? exclude? exact-match first-parent contains candidates? debug",
	},
	"remote":   {short: "v", long: "verbose all push", operands: "<", names: true, also: gitFirst("", "get-url")},
	"shortlog": {short: "snec", long: gitLogLong + "numbered summary email committer group?", operands: "<"},
	"cat-file": {
		short: "tspe", operands: "<",
		long: "batch? batch-check? batch-all-objects buffer unordered follow-symlinks allow-unknown-type " +
			"!batch-command? !textconv !filters !path?",
	},
	"grep": {
		short: "aIiwvhHEGFPnlLcqWpzoe:f<A:B:C:m:r", operands: ":<", instead: "e f", digits: true,
		long: "text ignore-case word-regexp invert-match full-name extended-regexp basic-regexp fixed-strings perl-regexp " +
			"line-number column files-with-matches name-only files-without-match only-matching count color? no-color break " +
			"heading show-function function-context context? after-context? before-context? max-depth? max-count? threads? and " +
			"or not all-match quiet cached recursive no-recursive null untracked exclude-standard no-exclude-standard " +
			"!open-files-in-pager? !no-index !textconv !ext-grep !recurse-submodules",
	},
	"config": {
		short: "lz", operands: ":", leading: true, also: gitConfigReads,
		long: "get get-all get-regexp get-urlmatch list local worktree show-origin show-scope name-only null type? bool int path " +
			"bool-or-int expiry-date includes no-includes all regexp default? global system !file? !blob? !add !replace-all " +
			"!unset !unset-all !rename-section !remove-section !edit !get-color !get-colorbool !fixed-value",
	},
	"stash":         {short: gitLogShort, long: gitLogLong, operands: "<", digits: true, also: gitFirst("list", "show")},
	"worktree":      {short: "vz", long: "porcelain verbose", operands: "<", also: gitFirst("list")},
	"symbolic-ref":  {short: "q", long: "short quiet recurse no-recurse !delete", operands: "<", names: true, also: gitOneOperand},
	"check-ignore":  {short: "qvnz", long: "quiet verbose non-matching no-index stdin", operands: "<", names: true},
	"check-attr":    {short: "az", long: "all cached stdin", operands: ":<", names: true},
	"count-objects": {short: "vH", long: "verbose human-readable"},
})

// ready compiles a table of commands. Their help opens a pager that the
// repository's configuration names.
func ready(table map[string]usage) map[string]*options {
	all := make(map[string]*options, len(table))
	for name, s := range table {
		s.long += " !help"
		all[name] = s.ready()
	}
	return all
}
