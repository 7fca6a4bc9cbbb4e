package audit

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPlacesStayApart(t *testing.T) {
	r := &Redactor{}
	r.Add("hunter2hunter2")
	for _, c := range []struct {
		name, text, want string // | are the places
	}{
		{"nothing to hide", "a|b|", "a|b|"},
		{"beside a place", "|hunter2hunter2|x", "|[secret]|x"},
		{"over one", "ahunter2|hunter2b", "a[secret]|[secret]b"},
		{"over several", "hun|ter2|hunter|2", "[secret]|[secret]|[secret]|[secret]"},
		{"over one that is there twice", "hunter2||hunter2", "[secret]||[secret]"},
		{"two of them", "hunter2hunter2|é hunter2hunter2|", "[secret]|é [secret]|"},
	} {
		text, places := cutAt(c.text)
		clean, moved := r.RedactAround(text, places)
		for i := len(moved) - 1; i >= 0; i-- {
			clean = clean[:moved[i]] + "|" + clean[moved[i]:]
		}
		if clean != c.want {
			t.Errorf("%s: %q, want %q", c.name, clean, c.want)
		}
	}
}

// cutAt takes the places out of a text.
func cutAt(text string) (plain string, places []int) {
	for i, part := range strings.Split(text, "|") {
		if i > 0 {
			places = append(places, len(plain))
		}
		plain += part
	}
	return plain, places
}

// TestPlacesMoveWithTheText: between two of them stands what stood there, or something was hidden there; and without any the
// text is as Redact leaves it.
func TestPlacesMoveWithTheText(t *testing.T) {
	r := &Redactor{}
	for _, secret := range []string{"hunter2hunter2", "</set><get", "p`w\nd`\""} {
		r.Add(secret)
	}
	piece := rapid.SampledFrom([]string{"hunter2hunter2", "hunter2", "</set>", "<get", " path=\"é\"/>", "p`w\nd`\"", "d`\"", "p`w\n", "x", "\n", "sk-ant-api03-" + strings.Repeat("a1", 50)})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces"), "")
		if clean, _ := r.RedactAround(text, nil); clean != r.Redact(text) {
			t.Fatalf("without places %q is %q, not %q", text, clean, r.Redact(text))
		}
		places := rapid.SliceOfN(rapid.IntRange(0, len(text)), 0, 6).Draw(t, "places")
		slices.Sort(places)
		clean, moved := r.RedactAround(text, places)
		if len(moved) != len(places) || !slices.IsSorted(moved) || r.Redact(clean) != clean && !strings.Contains(clean, Hidden) {
			t.Fatalf("%q at %v is %q at %v", text, places, clean, moved)
		}
		spans := r.spans(text)
		ends, is := append([]int{0}, places...), append([]int{0}, moved...)
		ends, is = append(ends, len(text)), append(is, len(clean))
		for i := range ends[1:] {
			from, to := ends[i], ends[i+1]
			hidden := from < to && slices.ContainsFunc(spans, func(x span) bool { return x.start < to && from < x.end })
			switch got := clean[is[i]:is[i+1]]; {
			case hidden && !strings.Contains(got, Hidden):
				t.Errorf("of %q nothing is hidden: %q", text[from:to], got)
			case !hidden && got != text[from:to]:
				t.Errorf("%q became %q", text[from:to], got)
			}
		}
	})
}
