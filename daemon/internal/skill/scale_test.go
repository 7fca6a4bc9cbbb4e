package skill

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
)

// TestTenThousandSkills holds that so many are read, matched and listed, and
// that the list takes its share of any context and no more (fault 50). That so
// many are found on disk is for the benchmarks of the scan.
func TestTenThousandSkills(t *testing.T) {
	const n = 10_000
	var documents []*Document
	for i, d := range many(n).All() {
		text := fmt.Sprintf("---\nname: %s\ndescription: %s\ntags: [%s]\n---\n\nDo it.\n",
			d.Name, d.Description+strings.Repeat(" It goes on & on.", i%9), strings.Join(d.Tags, ", "))
		read := Parse([]byte(text), d.Name)
		read.Tier, read.Status = sdk.TierUser, sdk.SkillEnabled
		documents = append(documents, &read)
	}
	c := NewCatalogue(documents)
	all := c.Usable()
	if len(all) != n {
		t.Fatalf("%d of %d skills can be used", len(all), n)
	}
	wanted := all[n/3]
	if got := c.Match(wanted.Name, 1); len(got) != 1 || got[0].Document != wanted {
		t.Errorf("%s is not found by its name: %v", wanted.Name, namesOf(got))
	}
	for _, context := range []int{0, 8_192, 32_768, 131_072, 200_000, 1_000_000, 100_000_000} {
		budget := Budget(2, context)
		l := List(c, budget, wanted.Name)
		checkListing(t, l, budget)
		if len(l.Shown)+len(l.Left) != n {
			t.Errorf("a context of %d: %d shown and %d left out of %d", context, len(l.Shown), len(l.Left), n)
		}
		if !slices.Contains(l.Shown, wanted.Name) {
			t.Errorf("a context of %d has no room for the skill that the prompt names", context)
		}
		if used := utf8.RuneCountInString(l.Text); len(l.Left) > 0 && used < budget*9/10 {
			t.Errorf("a context of %d: %d of %d characters are used, and %d skills left out", context, used, budget, len(l.Left))
		}
	}
}
