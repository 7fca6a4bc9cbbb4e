package audit

import (
	"maps"
	"slices"
)

// mostPassing is how many of the last tellings of passing values count: a text that was written a
// while ago may have one of before.
const mostPassing = 3

// passing are values that others take the place of.
type passing struct {
	values []string
	forms  []form
}

// Renew tells of the values that go by a name now, such as the tokens of a login, as Add does. Those
// that went by it before count on until newer ones were told of twice more, and then no longer: without
// that a daemon that runs for months would know of ever more.
func (r *Redactor) Renew(name string, values ...string) {
	now := passing{values: slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !counts(v) })}
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.passes[name]
	if len(list) > 0 && slices.Equal(list[len(list)-1].values, now.values) {
		return
	}
	for _, v := range now.values {
		for _, part := range partsOf(v) {
			now.forms = append(now.forms, formsOf(part)...)
		}
	}
	if r.passes == nil {
		r.passes = map[string][]passing{}
	}
	list = append(slices.Clone(list), now)
	r.passes[name] = list[max(0, len(list)-mostPassing):]
	r.made.Store(nil)
}

// all are the forms of all values. It needs r.mu.
func (r *Redactor) all() []form {
	all := slices.Clone(r.forms)
	for _, name := range slices.Sorted(maps.Keys(r.passes)) {
		for _, p := range r.passes[name] {
			all = append(all, p.forms...)
		}
	}
	return all
}
