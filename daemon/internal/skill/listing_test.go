package skill

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// listedSkills reads a listing as a strict reader of XML does.
func listedSkills(text string) (skills []struct {
	Name        string `xml:"name"`
	Description string `xml:"description"`
}, err error) {
	_, rest, ok := strings.Cut(text, listOpening)
	if !ok {
		return nil, nil
	}
	body, _, ok := strings.Cut(rest, listClosing)
	if !ok {
		return nil, fmt.Errorf("the list is not closed:\n%s", text)
	}
	var list struct {
		Skills []struct {
			Name        string `xml:"name"`
			Description string `xml:"description"`
		} `xml:"skill"`
	}
	err = xml.Unmarshal([]byte(listOpening+body+listClosing), &list)
	return list.Skills, err
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkListing holds what every listing has to: it fits, it reads, it shows
// what it says, and what is not shown is counted.
func checkListing(t failer, l Listing, budget int) {
	t.Helper()
	if n := utf8.RuneCountInString(l.Text); n > max(budget, 0) {
		t.Fatalf("%d characters in a budget of %d:\n%s", n, budget, l.Text)
	}
	skills, err := listedSkills(l.Text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, l.Text)
	}
	if len(skills) != len(l.Shown) {
		t.Fatalf("%d skills listed, %d said to be shown:\n%s", len(skills), len(l.Shown), l.Text)
	}
	for i, s := range skills {
		if s.Name != oneLine(l.Shown[i]) {
			t.Fatalf("skill %d is %q, said to be %q", i, s.Name, l.Shown[i])
		}
		if utf8.RuneCountInString(s.Description) > maxDescription || strings.ContainsFunc(s.Description, hidden) || strings.ContainsAny(s.Description, "\n\t") {
			t.Fatalf("the description of %s is %q", s.Name, s.Description)
		}
	}
	if n := len(l.Left); n > 0 && l.Text != "" && !strings.HasSuffix(l.Text, leftOut(n)) {
		t.Fatalf("%d are left out without a word:\n%s", n, l.Text)
	}
	if !slices.IsSorted(l.Shown) {
		t.Fatalf("not by name: %v", l.Shown)
	}
}

func TestListingProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := catalogues().Draw(t, "catalogue")
		budget := rapid.IntRange(-1, 4000).Draw(t, "budget")
		prompt := texts().Draw(t, "prompt")
		l := List(c, budget, prompt)
		checkListing(t, l, budget)
		var models []string
		for _, d := range c.Usable() {
			if !d.PeopleOnly {
				models = append(models, d.Name)
			}
		}
		if all := slices.Sorted(slices.Values(slices.Concat(l.Shown, l.Left))); !slices.Equal(all, models) {
			t.Fatalf("%v are shown and left out of %v", all, models)
		}
		if again := List(NewCatalogue(c.All()), budget, prompt); again.Text != l.Text {
			t.Fatalf("the same gives\n%s\nand then\n%s", l.Text, again.Text)
		}
		if len(l.Left) == 0 && List(c, budget, prompt+" review").Text != l.Text {
			t.Fatalf("the prompt changes a listing that has room for every name")
		}
		for _, name := range models {
			p, ok := l.Place(name)
			switch {
			case !ok, p.Of != len(models):
				t.Fatalf("%s has no place: %+v", name, p)
			case p.Shown != slices.Contains(l.Shown, name), p.Shown && !strings.Contains(l.Text, "\n"+p.Line+"\n"):
				t.Fatalf("%s is %+v in\n%s", name, p, l.Text)
			case !p.Shown && (p.Rank < 1 || p.Rank > p.Of):
				t.Fatalf("%s is left out with the rank %d of %d", name, p.Rank, p.Of)
			case p.Shown && (p.To > p.From || p.To < p.From && p.To > 0 && !strings.Contains(p.Line, ellipsis+"</description>") || p.To == 0 && strings.Contains(p.Line, "<description>")):
				t.Fatalf("%s has %d of %d characters in %s", name, p.To, p.From, p.Line)
			}
		}
	})
}

// TestListingNeverGrowsWorse holds that more room never shows less.
func TestListingNeverGrowsWorse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := catalogues().Draw(t, "catalogue")
		budget := rapid.IntRange(0, 4000).Draw(t, "budget")
		less := List(c, budget, "review")
		more := List(c, budget+rapid.IntRange(1, 400).Draw(t, "more"), "review")
		if strings.HasPrefix(less.Text, listUsage) == strings.HasPrefix(more.Text, listUsage) && (len(more.Shown) < len(less.Shown) || more.limit < less.limit && len(less.Shown) > 0) {
			t.Fatalf("%d skills at %d, then %d at %d", len(less.Shown), less.limit, len(more.Shown), more.limit)
		}
	})
}

func TestListing(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("Says much about little. ", 60))
	c := NewCatalogue([]*Document{
		enabled("b", "Second\n  of\tall."),
		enabled("a", "Compares a < b && b > c, \u202eand\u200b hides </description> nothing."),
		enabled("long", long),
		{SkillDocument: sdk.SkillDocument{Skill: sdk.Skill{Name: "people", Description: "Theirs.", Status: sdk.SkillEnabled, PeopleOnly: true}}},
		{SkillDocument: sdk.SkillDocument{Skill: sdk.Skill{Name: "new", Description: "Of a stranger.", Status: sdk.SkillUntrusted}}},
	})
	whole := List(c, 8000, "")
	checkListing(t, whole, 8000)
	want := listUsage + listOpening +
		"<skill><name>a</name><description>Compares a &lt; b &amp;&amp; b &gt; c, and hides &lt;/description&gt; nothing.</description></skill>\n" +
		"<skill><name>b</name><description>Second of all.</description></skill>\n" +
		"<skill><name>long</name><description>" + cut(long, maxDescription) + "</description></skill>\n" + listClosing
	if whole.Text != want {
		t.Errorf("the listing is\n%s\nwant\n%s", whole.Text, want)
	}
	if p, _ := whole.Place("long"); p.To >= p.From || !strings.HasSuffix(cut(long, maxDescription), "about"+ellipsis) && !strings.HasSuffix(cut(long, maxDescription), ellipsis) {
		t.Errorf("a description beyond the standard's length: %+v", p)
	}

	tight := List(c, 700, "")
	checkListing(t, tight, 700)
	if p, _ := tight.Place("b"); !p.Shown || p.To != p.From {
		t.Errorf("a short description is not left whole: %+v", p)
	}
	if p, _ := tight.Place("long"); !p.Shown || p.To >= p.From || p.To < leastDescription/2 {
		t.Errorf("the long description is not shortened: %+v", p)
	}

	names := List(c, 280, "")
	checkListing(t, names, 280)
	if strings.Contains(names.Text, "<description>") || len(names.Shown) != 3 {
		t.Errorf("with room for names only:\n%s", names.Text)
	}
}

// TestListingLeavesOutTheWorst holds that what fits the prompt is shown.
func TestListingLeavesOutTheWorst(t *testing.T) {
	var documents []*Document
	for i := range 200 {
		documents = append(documents, enabled(fmt.Sprintf("skill-%03d", i), fmt.Sprintf("Does the thing number %d.", i)))
	}
	documents[150].Description = "Writes poems about the sea."
	bundled := enabled("zz-bundled", "Came along.")
	bundled.Tier = sdk.TierBundled
	c := NewCatalogue(append(documents, bundled))
	l := List(c, 655, "write me a poem")
	checkListing(t, l, 655)
	if !slices.Contains(l.Shown, "skill-150") {
		t.Errorf("what fits the prompt is left out; shown are %v", l.Shown)
	}
	if p, ok := l.Place("zz-bundled"); !ok || p.Shown || p.Rank != 201 || p.Of != 201 {
		t.Errorf("what fits worst is %+v", p)
	}
	if want := fmt.Sprintf("\n%d more skills are not listed for lack of room: use_skill takes their names too; `bothy skills match` finds them.", len(l.Left)); !strings.HasSuffix(l.Text, want) {
		t.Errorf("the listing ends %q", l.Text[len(l.Text)-150:])
	}
}

func TestListingWithoutSkills(t *testing.T) {
	only := enabled("people", "Theirs.")
	only.PeopleOnly = true
	for _, c := range []*Catalogue{NewCatalogue(nil), NewCatalogue([]*Document{only})} {
		if l := List(c, 8000, "x"); l.Text != "" || len(l.Left) > 0 {
			t.Errorf("nothing to list gives %q, %v", l.Text, l.Left)
		}
	}
	c := NewCatalogue([]*Document{enabled("a", "One."), enabled("b", "Two.")})
	for _, budget := range []int{-5, 0, 40} {
		if l := List(c, budget, "two"); l.Text != "" || !slices.Equal(l.Left, []string{"b", "a"}) {
			t.Errorf("a budget of %d gives %q, and leaves %v", budget, l.Text, l.Left)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text, want string
		limit      int
	}{
		{"one two three", "one two three", 13},
		{"one two three", "one two…", 12},
		{"one two, three", "one two…", 12},
		{"one two three", "one…", 7},
		{"onetwothree", "onetwo…", 7},
		{"日本語の文章を要約", "日本語の…", 5},
		{"ae\u0301e\u0301e\u0301", "ae\u0301…", 4},
		{"text", "", 0},
	} {
		if got := cut(c.text, c.limit); got != c.want {
			t.Errorf("cut(%q, %d) is %q, want %q", c.text, c.limit, got, c.want)
		}
	}
}

// BenchmarkList10k is what a turn pays for 10,000 skills.
func BenchmarkList10k(b *testing.B) {
	c := many(10_000)
	prompt := queries(c, 40)[0]
	for _, context := range []int{8_192, 200_000, 100_000_000} {
		b.Run(fmt.Sprint(context), func(b *testing.B) {
			for b.Loop() {
				List(c, context*4/50, prompt)
			}
		})
	}
}
