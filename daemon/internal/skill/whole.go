package skill

import (
	"fmt"
	"hash/fnv"
	"time"
)

// mostInSkill is how many files and folders of one skill are looked at. One with
// more is too large to be trusted.
const mostInSkill = 4000

// folderSum is the hash of a skill's whole folder, to which trust is bound, or
// why there is none.
type folderSum struct {
	hash string
	err  error
}

// wholeFolder remembers of which files the sum is.
type wholeFolder struct {
	keys uint64 // of the keys of all that is in it
	sure bool   // equal keys mean equal contents
	sum  folderSum
}

// mostAlike is how many folders are hashed of the skills of one name.
const mostAlike = 8

const errAlike = sumError("too many other folders of the project have a skill of this name")

// sum brings the sums of the shelf's skills up to date, of those for which
// people answered: what nobody asked for must cost nothing. It watches all
// folders of such a skill, and has only those read in which something changed.
func (s *shelf) sum(sc *scan, l looker) {
	alike := map[string]int{}
	for _, f := range sc.found {
		r := s.known[f.folder]
		if r == nil || r.now == nil || f.trouble != nil {
			continue
		}
		name := r.now.Name
		if !l.answered(name) {
			r.whole = wholeFolder{}
			continue
		}
		if alike[name]++; alike[name] > mostAlike {
			r.whole = wholeFolder{sum: folderSum{err: errAlike}}
			continue
		}
		keys, newest, err := sc.keys(f.home)
		now := l.clock()
		if err == nil && r.whole.keys == keys && r.whole.sure {
			continue
		}
		next := wholeFolder{keys: keys, sure: err == nil && now.Sub(time.Unix(0, newest)) >= surely}
		if next.sum.err = err; err == nil {
			next.sum.hash, next.sum.err = l.hash(f.folder)
		}
		if next.sum.err != nil { // which may pass
			next.sure, next.sum = false, folderSum{err: sumError(next.sum.err.Error())}
		}
		r.whole = next
	}
}

// sumError can be compared.
type sumError string

func (e sumError) Error() string { return string(e) }

// keys sums up the keys of all that is in a folder.
func (sc *scan) keys(home spot) (sum uint64, newest int64, err error) {
	h, left := fnv.New64a(), mostInSkill
	queue := []spot{home}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		sc.watch(at.path())
		entries, err := sc.entries(step{spot: at})
		if err != nil {
			return 0, 0, cause(err)
		}
		for _, e := range entries {
			if left--; left < 0 {
				return 0, 0, fmt.Errorf("it holds more than %d files", mostInSkill)
			}
			inner := at.join(e.Name())
			info, err := inner.lstat()
			if err != nil {
				return 0, 0, cause(err)
			}
			k := keyOf(info)
			newest = max(newest, k.changed)
			fmt.Fprintf(h, "%q %v %v\n", inner.rel, info.Mode(), k)
			if e.IsDir() {
				queue = append(queue, inner)
			}
		}
	}
	return h.Sum64(), newest, nil
}
