package skill

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"time"

	"github.com/bothyd/bothy/daemon/internal/watch"
)

// folderSum is the hash of a skill's whole folder, to which trust is bound, or
// why there is none.
type folderSum struct {
	hash string
	err  error
}

// folderDigest remembers of which files the sum is.
type folderDigest struct {
	keys uint64 // of the keys of all that is in it
	sure bool   // equal keys mean equal contents
	sum  folderSum
}

// mostAlike is how many folders are hashed of the skills of one name.
const mostAlike = 8

const errAlike = sumError("too many other folders of the project have a skill of this name")

// sum brings the sums of the skills of the index up to date, of those for which
// people answered: what nobody asked for must cost nothing. It watches all
// folders of such a skill, and has only those read in which something changed.
func (x *folderIndex) sum(sc *scan, o rescan) {
	alike := map[string]int{}
	for _, f := range sc.found {
		e := x.entries[f.folder]
		if e == nil || e.doc == nil || f.trouble != nil {
			continue
		}
		name := e.doc.Name
		if !o.answered(name) {
			e.digest = folderDigest{}
			continue
		}
		if alike[name]++; alike[name] > mostAlike {
			e.digest = folderDigest{sum: folderSum{err: errAlike}}
			continue
		}
		keys, newest, err := folderKeys(f.home.path(), sc.pass.Folder)
		now := o.clock()
		if err == nil && e.digest.keys == keys && e.digest.sure {
			continue
		}
		next := folderDigest{keys: keys, sure: err == nil && now.Sub(time.Unix(0, newest)) >= watch.Resolution}
		if next.sum.err = err; err == nil {
			next.sum.hash, next.sum.err = o.hash(f.folder)
		}
		if next.sum.err != nil { // which may pass
			next.sure, next.sum = false, folderSum{err: sumError(next.sum.err.Error())}
		}
		e.digest = next
	}
}

// sumError can be compared.
type sumError string

func (e sumError) Error() string { return string(e) }

// folderKeys sums up the keys of all files in a folder, and tells enter of each
// folder in it before that is read.
func folderKeys(folder string, enter func(dir string)) (sum uint64, newest int64, err error) {
	root, err := openFolder(folder)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = root.Close() }()
	w := walk{root: root, strict: true, enter: func(dir string) { enter(filepath.Join(folder, dir)) }}
	if err := w.all(); err != nil {
		return 0, 0, err
	}
	h := fnv.New64a()
	for _, f := range w.found {
		k := watch.KeyOf(f.info)
		newest = max(newest, k.Changed)
		fmt.Fprintf(h, "%q %v %v\n", f.path, f.info.Mode(), k)
	}
	return h.Sum64(), newest, nil
}
