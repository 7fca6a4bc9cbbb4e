package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// listingHead is the first line of a listing. Another form gets another one.
const listingHead = "bothy-bundle 1"

// Listing is all that the digest of a bundle covers, as text: the head, and for each
// entry, in the order of the bytes of the paths, a line
//
//	KIND SHA256 PATH
//
// with the hash of the file's content or of the link's target. The digest is the
// SHA-256 of the listing, so that a listing that was kept proves itself.
type Listing string

// Digest is the hex SHA-256 of the listing.
func (l Listing) Digest() string {
	sum := sha256.Sum256([]byte(l))
	return hex.EncodeToString(sum[:])
}

// Sum reads all files of a bundle, and is what it holds now.
func (f *Folder) Sum() (Listing, error) {
	var text strings.Builder
	text.WriteString(listingHead + "\n")
	err := f.each(func(root *os.Root, e Entry) (err error) {
		hash := sha256.New()
		if e.Kind == Link {
			hash.Write([]byte(e.Target))
		} else {
			err = readInto(hash, root, e)
		}
		fmt.Fprintf(&text, "%s %x %s\n", e.Kind, hash.Sum(nil), e.Path)
		return err
	})
	if err != nil {
		return "", err
	}
	return Listing(text.String()), nil
}

// lines are what a listing says, by path.
func (l Listing) lines() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(string(l)) {
		what, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if hash, name, is := strings.Cut(rest, " "); is && len(hash) == 2*sha256.Size {
			out[name] = what + " " + hash
		}
	}
	return out
}

// Files is how many entries a listing has.
func (l Listing) Files() int { return max(0, strings.Count(string(l), "\n")-1) }

// shown is how many files Changes names at most.
const shown = 5

// Changes says in words what another listing has otherwise; empty where it is the
// same.
func (l Listing) Changes(now Listing) string {
	was, is := l.lines(), now.lines()
	all := maps.Clone(was)
	maps.Copy(all, is)
	var said []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		old, had := was[name]
		fresh, has := is[name]
		switch {
		case had && !has:
			said = append(said, name+" is gone")
		case !had:
			said = append(said, name+" was added")
		case old != fresh && old[len(old)-64:] == fresh[len(fresh)-64:]:
			said = append(said, fmt.Sprintf("%s is another kind of file (%s, not %s)", name, fresh[:4], old[:4]))
		case old != fresh:
			said = append(said, name+" was changed")
		}
	}
	if more := len(said) - shown; more > 0 {
		said = append(said[:shown], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(said, ", ")
}
