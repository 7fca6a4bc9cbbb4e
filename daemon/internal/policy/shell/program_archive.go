package shell

import "strings"

// tarSyntax lists what is in an archive and does nothing else.
var tarSyntax = usage{
	short: "tvzjJRf<", operands: ":", exact: true, also: tarLists,
	long: "list verbose file< gzip bzip2 xz zstd lzma wildcards no-wildcards full-time utc block-number numeric-owner force-local",
}.ready()

// tar knows a first word without a dash as a bundle, too; its values are the
// next words, which is the same when only the last letter has one.
func tar(c call) finding {
	if len(c.argv) > 1 && !strings.HasPrefix(c.argv[1], "-") && !c.glob(1) {
		if at := strings.IndexByte(c.argv[1], 'f'); at >= 0 && at < len(c.argv[1])-1 {
			return c.orSecret(c.unproven("shell.option", "it is not known how tar reads %q; write tar -tf ARCHIVE", c.argv[1]), false)
		}
		c.argv = append([]string{c.argv[0], "-" + c.argv[1]}, c.argv[2:]...)
	}
	return tarSyntax.judge(c)
}

func tarLists(r *reading) finding {
	if !r.has("t", "list") || !r.has("f", "file") {
		return r.unproven("shell.option", "only listing an archive is proven; write tar -tf ARCHIVE, or ask for more")
	}
	for _, word := range r.argv[1:] {
		if strings.Contains(word, ":") {
			return r.unproven("shell.network", "tar takes %q for an archive on another machine, and starts a program for it; rename the archive", word)
		}
	}
	return finding{}
}
