package shell

import "strings"

// textPrograms read text and print text.
var textPrograms = map[string]usage{
	"cat": {
		short: "AbeEnstTuv", operands: "<",
		long: "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting",
	},
	"head": {
		short: "n:c:qvz", operands: "<", digits: true,
		long: "bytes: lines: quiet silent verbose zero-terminated",
	},
	"tail": {
		short: "n:c:fFqvzs:", operands: "<", digits: true,
		long: "bytes: lines: quiet silent verbose zero-terminated follow? pid: retry sleep-interval: max-unchanged-stats:",
	},
	"wc": {
		short: "cmlLw", operands: "<",
		long: "bytes chars lines words max-line-length total: debug !files0-from:",
	},
	"nl": {
		short: "b:d:f:h:i:l:n:ps:v:w:", operands: "<",
		long: "body-numbering: section-delimiter: footer-numbering: header-numbering: line-increment: join-blank-lines: " +
			"number-format: no-renumber number-separator: starting-line-number: number-width:",
	},
	"tac":      {short: "brs:", operands: "<", long: "before regex separator:"},
	"rev":      {short: "0", operands: "<", long: "zero"},
	"fold":     {short: "bcsw:", operands: "<", digits: true, long: "bytes characters spaces width:"},
	"fmt":      {short: "ctsup:w:g:", operands: "<", digits: true, long: "crown-margin prefix: split-only tagged-paragraph uniform-spacing width: goal:"},
	"paste":    {short: "d:sz", operands: "<", long: "delimiters: serial zero-terminated"},
	"join":     {short: "a:e:ij:o:t:v:1:2:z", operands: "<", long: "ignore-case check-order nocheck-order header zero-terminated"},
	"comm":     {short: "123iz", operands: "<", long: "check-order nocheck-order output-delimiter: total zero-terminated"},
	"expand":   {short: "it:", operands: "<", digits: true, long: "initial tabs:"},
	"unexpand": {short: "at:", operands: "<", digits: true, long: "all first-only tabs:"},
	"column": {
		short: "tc:s:o:xJN:R:dH:T:O:W:L", operands: "<",
		long: "table separator: output-separator: fillrows json table-columns: table-right: table-noheadings table-hide: " +
			"table-truncate: table-order: table-wrap: keep-empty-lines output-width:",
	},
	"cut": {
		short: "b:c:d:f:nsz", operands: "<",
		long: "bytes: characters: delimiter: fields: complement only-delimited output-delimiter: zero-terminated",
	},
	"tr": {short: "cCdst", operands: ":", long: "complement delete squeeze-repeats truncate-set1"},
	"sort": {
		short: "bdfgiMhnRrVcCmsuzk:S:t:T>o>", operands: "<",
		long: "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort " +
			"human-numeric-sort numeric-sort random-sort random-source< reverse sort: version-sort batch-size: check? debug " +
			"key: merge output> stable buffer-size: field-separator: temporary-directory> parallel: unique zero-terminated " +
			"!compress-program: !files0-from:",
	},
	"shuf": {
		short: "ei:n:o>rz", operands: "<",
		long: "echo input-range: head-count: output> random-source< repeat zero-terminated",
	},
	"tsort": {operands: "<"},
	"uniq": {
		short: "cdDif:s:uw:z", operands: "<>", digits: true,
		long: "count repeated all-repeated? skip-fields: group? ignore-case skip-chars: unique check-chars: zero-terminated",
	},
	"cmp": {
		short: "bln:i:sv", operands: "<<:",
		long: "print-bytes ignore-initial: bytes: verbose quiet silent",
	},
	"diff": {
		short: "0123456789aBbcC:dD:eEF:hiI:nNpqrsS:tTuU:vwW:x:X<yZ", operands: "<",
		long: "normal brief report-identical-files context? unified? ed rcs side-by-side width: left-column suppress-common-lines " +
			"show-c-function show-function-line: label: expand-tabs initial-tab tabsize: suppress-blank-empty !paginate recursive " +
			"no-dereference new-file unidirectional-new-file ignore-file-name-case no-ignore-file-name-case exclude: exclude-from< " +
			"starting-file: from-file< to-file< ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change " +
			"ignore-all-space ignore-blank-lines ignore-matching-lines: text strip-trailing-cr binary ifdef: line-format: " +
			"old-line-format: new-line-format: unchanged-line-format: old-group-format: new-group-format: unchanged-group-format: " +
			"changed-group-format: minimal horizon-lines: speed-large-files color? palette: inhibit-hunk-merge !sdiff-merge-assist",
	},
	"sha1sum":   sums,
	"sha224sum": sums,
	"sha256sum": sums,
	"sha384sum": sums,
	"sha512sum": sums,
	"md5sum":    sums,
	"b2sum": {
		short: "bctwzl:", operands: "<",
		long: "binary check text tag quiet status strict warn ignore-missing zero length:",
	},
	"sum": {short: "rs", operands: "<", long: "sysv"},
	"cksum": {
		short: "a:bctwzl:", operands: "<",
		long: "algorithm: base64 binary check debug ignore-missing length: quiet raw status strict tag text untagged warn zero",
	},
	"od": {
		short: "A:j:N:S:t:vw?abcdDeFfhHiIlLoOsxX", operands: "<",
		long: "address-radix: endian: skip-bytes: read-bytes: strings? format: output-duplicates width? traditional",
	},
	"hexdump": hexdump,
	"hd":      hexdump,
	"xxd": {
		operands: "<>", dash: true, leading: true,
		long: "a autoskip b bits c: cols: C capitalize d e E EBCDIC g: groupsize: h i include l: len: o: p ps plain postscript " +
			"r revert s: seek: u v",
	},
	"strings": {short: "afdn:t:e:oU:s:w", operands: "<", digits: true, also: noArgumentFile,
		long: "all data print-file-name bytes: radix: encoding: include-all-whitespace output-separator: unicode: !target:"},
	"base64": {short: "dDiw:", operands: "<", long: "decode ignore-garbage wrap:"},
	"basenc": {
		short: "dDiw:", operands: "<",
		long: "base64 base64url base32 base32hex base16 base2msbf base2lsbf z85 decode ignore-garbage wrap:",
	},
	"base32": {short: "diw:", operands: "<", long: "decode ignore-garbage wrap:"},
	"jq": {
		short: "acCeh0jL<MnrRsSV", operands: ":<", exact: true, also: noJqModule,
		long: "ascii-output compact-output color-output exit-status join-output monochrome-output null-input raw-output raw-output0 " +
			"raw-input slurp sort-keys tab indent: unbuffered stream stream-errors seq !from-file arg:: argjson:: slurpfile:< rawfile:< " +
			"argfile:< args jsonargs library-path<",
	},
}

var sums = usage{
	short: "bctwz", operands: "<",
	long: "binary check text tag quiet status strict warn ignore-missing zero",
}

var hexdump = usage{
	short: "bcCde:f<n:os:vxX", operands: "<",
	long: "one-byte-octal one-byte-hex one-byte-char canonical two-bytes-decimal two-bytes-octal two-bytes-hex format: " +
		"format-file< length: skip: no-squeezing",
}

// noArgumentFile refuses @FILE, from which binutils take options and operands.
func noArgumentFile(r *reading) finding {
	for _, text := range r.operands {
		if strings.HasPrefix(text, "@") {
			return r.unproven("shell.option", "%s takes more arguments from %q, which are not known; write them out", r.argv[0], text)
		}
	}
	return finding{}
}

// noJqModule refuses filters that load other files: jq looks for modules
// wherever the filter says.
func noJqModule(r *reading) finding {
	if len(r.operands) == 0 {
		return finding{}
	}
	for _, name := range []string{"import", "include", "modulemeta"} {
		if strings.Contains(r.operands[0], name) {
			return r.unproven("shell.option", "a jq filter with %q may load any file, which is not proven; write the filter without it", name)
		}
	}
	return finding{}
}
