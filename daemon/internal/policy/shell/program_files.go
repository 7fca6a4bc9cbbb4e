package shell

import (
	"strings"

	"github.com/bothyd/bothy/sdk/protect"
)

// filePrograms say what files there are, or make empty ones.
var filePrograms = map[string]usage{
	"ls": {
		short: "aAbBcCdDfFgGhHiI:klLmnNopqQrRsStT:uUvw:xXZ1", operands: "<", names: true,
		long: "all almost-all author escape block-size: ignore-backups color? directory dired classify? file-type format: full-time " +
			"group-directories-first no-group human-readable si dereference dereference-command-line " +
			"dereference-command-line-symlink-to-dir hide: hyperlink? indicator-style: inode ignore: kibibytes literal " +
			"numeric-uid-gid hide-control-chars show-control-chars quote-name quoting-style: reverse recursive size sort: time: " +
			"time-style: tabsize: width: context zero",
	},
	"basename": {short: "as:z", operands: ":", long: "multiple suffix: zero"},
	"dirname":  {short: "z", operands: ":", long: "zero"},
	"realpath": {
		short: "eEmLPqsz", operands: "<", names: true,
		long: "canonicalize canonicalize-existing canonicalize-missing logical physical quiet relative-to< relative-base< strip " +
			"no-symlinks zero",
	},
	"readlink": {
		short: "femnqsvz", operands: "<", names: true,
		long: "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero",
	},
	"stat": {
		short: "fLc:t", operands: "<", names: true,
		long: "dereference file-system format: printf: terse cached:",
	},
	"file": {
		short: "bhikLNnrv0F:e:", operands: "<",
		long: "brief mime mime-type mime-encoding extension keep-going dereference no-dereference no-pad no-buffer raw print0 " +
			"separator: exclude: exclude-quiet: list apple parameter: !files-from: !magic-file: !compile !uncompress " +
			"!uncompress-noreport !special-files !preserve-date !no-sandbox !checking-printout !debug",
	},
	"du": {
		short: "0aB:bcd:DHhklLmPSst:xX<", operands: "<", names: true,
		long: "all apparent-size block-size: bytes total max-depth: dereference-args human-readable inodes dereference " +
			"no-dereference null separate-dirs summarize threshold: time? time-style: exclude-from< exclude: one-file-system si " +
			"count-links !files0-from:",
	},
	"df": {
		short: "aB:hHiklPt:Tx:", operands: "<", names: true,
		long: "all block-size: human-readable inodes local no-sync output? portability print-type total type: exclude-type: si !sync",
	},
	"tree": {
		short: "adfilxCnAqNQpsughDFJXSvtcUrL:P:I:H:T:o>", operands: "<", names: true, exact: true, also: noGluedTree,
		long: "noreport charset: filelimit: dirsfirst filesfirst si du prune inodes device timefmt: sort? matchdirs ignore-case " +
			"metafirst gitignore gitfile< info infofile< nolinks",
	},
	"which": {short: "a", operands: "<", names: true, long: "all"},
	"mkdir": {short: "m:pv", operands: ">", long: "mode: parents verbose !context?"},
	"touch": {
		short: "acd:fhmr<t:", operands: ">",
		long: "no-create date: no-dereference reference< time:",
	},
	"tee": {short: "aip", operands: ">", long: "append ignore-interrupts output-error?"},
	"split": {
		short: "a:b:C:dxel:n:t:u", operands: "<>", also: splitWrites,
		long: "suffix-length: additional-suffix: bytes: line-bytes: numeric-suffixes? hex-suffixes? elide-empty-files !filter: " +
			"lines: number: separator: unbuffered verbose",
	},
}

// noGluedTree refuses words in which a letter with a value is not the last:
// tree takes the value from the next word even then.
func noGluedTree(r *reading) finding {
	for _, word := range r.argv[1:] {
		if len(word) > 2 && word[0] == '-' && word[1] != '-' && strings.ContainsAny(word[:len(word)-1], "LPIHTo") {
			return r.unproven("shell.option", "it is not known how tree reads %q; write each option as a word of its own", word)
		}
	}
	return finding{}
}

// splitWrites judges the names that split makes up: they begin with its prefix
// and may end as any protected one does.
func splitWrites(r *reading) finding {
	prefix := "x"
	if len(r.operands) > 1 {
		prefix = r.operands[1]
	}
	last := protect.Fold(prefix[strings.LastIndexByte(prefix, '/')+1:])
	names := append(protect.Names(), protect.Finding{Name: ".git"})
	for _, n := range names {
		for part := range strings.SplitSeq(n.Name, "/") {
			if last != "" && strings.HasPrefix(part, last) && !r.place.Open {
				return r.unproven("shell.write", "split may write a file named %s, which is protected; write another prefix than %q", part, prefix)
			}
		}
	}
	return r.writes(prefix)
}
