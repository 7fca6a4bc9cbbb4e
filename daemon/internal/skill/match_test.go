package skill

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// enabled makes a document that can be used.
func enabled(name, description string, tags ...string) *Document {
	return &Document{Loaded: true, SkillDocument: sdk.SkillDocument{Skill: sdk.Skill{Name: name, Description: description, Tags: tags, Tier: sdk.TierUser, Status: sdk.SkillEnabled}}}
}

func namesOf(matches []Match) []string {
	names := []string{}
	for _, m := range matches {
		names = append(names, m.Document.Name)
	}
	return names
}

var library = NewCatalogue([]*Document{
	enabled("pdf-tools", "Reads, merges and splits PDF files. Use it when a form has to be filled."),
	enabled("review-change", "Reviews a diff for mistakes before it is merged.", "git", "quality"),
	enabled("review", "Says what it thinks."),
	enabled("summarize", "Summarizes a long text in a few sentences."),
	enabled("gitHub-issues", "Answers issues of a repository."),
	enabled("db", "Writes SQL queries, and explains a query that is slow."),
	enabled("zusammenfassung", "Fasst Texte über Änderungen zusammen."),
	enabled("日本語要約", "日本語の文章を要約します。"),
	enabled("the-others", "Whatever is left."),
	{Loaded: true, SkillDocument: sdk.SkillDocument{Skill: sdk.Skill{Name: "off", Description: "Reviews PDF files.", Status: sdk.SkillDisabled}}},
	{Loaded: true, SkillDocument: sdk.SkillDocument{Skill: sdk.Skill{
		Name: "deploy", Description: "Ships it.", Status: sdk.SkillEnabled, PeopleOnly: true,
		Extensions: map[string]any{"when_to_use": "When a release has to reach production."},
	}}},
})

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		query string
		want  []string // the first ones
		terms []string // of the first
	}{
		{"pdf", []string{"pdf-tools"}, []string{"pdf"}},
		{"PDF Tools", []string{"pdf-tools"}, []string{"pdf", "tools"}},
		{"review", []string{"review", "review-change"}, []string{"review"}},
		{"review this diff", []string{"review", "review-change"}, []string{"review"}},
		{"/review-change HEAD~1", []string{"review-change", "review"}, []string{"review", "change"}},
		{"revi", []string{"review", "review-change"}, nil},
		{"merging mistakes", []string{"review-change"}, []string{"mistakes"}},
		{"quality", []string{"review-change"}, []string{"quality"}},
		{"slow queries", []string{"db"}, []string{"slow", "queries"}},
		{"merged", []string{"review-change"}, []string{"merged"}},
		{"github", []string{"gitHub-issues"}, []string{"github"}},
		{"production", []string{"deploy"}, []string{"production"}},
		{"ÄNDERUNGEN", []string{"zusammenfassung"}, []string{"änderungen"}},
		{"A\u0308nderungen", []string{"zusammenfassung"}, []string{"änderungen"}},
		{"文章の要約", []string{"日本語要約"}, []string{"文章", "要約"}},
		{"ＰＤＦ", []string{"pdf-tools"}, []string{"pdf"}},
		{"the", []string{"the-others"}, []string{"the"}},
		{"", []string{}, nil},
		{"?! --", []string{}, nil},
		{"xyzzy", []string{}, nil},
	} {
		got := library.Match(c.query, 0)
		names := namesOf(got)
		if len(names) < len(c.want) || !slices.Equal(names[:len(c.want)], c.want) || len(c.want) == 0 && len(names) > 0 {
			t.Errorf("%q finds %v, want %v first", c.query, names, c.want)
			continue
		}
		if len(got) > 0 && !slices.Equal(got[0].Terms, c.terms) {
			t.Errorf("%q finds %s by %q, want %q", c.query, names[0], got[0].Terms, c.terms)
		}
		if slices.Contains(names, "off") {
			t.Errorf("%q finds a skill that is disabled", c.query)
		}
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"Reviews of PDF-files":  {"review", "of", "pdf", "file"},
		"queries and a query":   {"query", "and", "a", "query"},
		"class glass is us":     {"class", "glass", "is", "us"},
		"don't; skill's, can’t": {"dont", "skill", "cant"},
		"日本語の pdf要約 語":          {"日本", "本語", "語の", "pdf", "要約", "語"},
		"ＰＤＦ A\u0308nderung":    {"pdf", "änderung"},
		" ?!\u202e\xff ":        nil,
		"x1 2.5":                {"x1", "2", "5"},
	} {
		var got []string
		eachWord(text, func(w []byte) { got = append(got, string(singular(w))) })
		if !slices.Equal(got, want) {
			t.Errorf("%q has the words %q, want %q", text, got, want)
		}
	}
}

// TestScores: what stands in the name counts most, a rare word more than a
// frequent one, and a short text more than a long one.
func TestScores(t *testing.T) {
	c := NewCatalogue([]*Document{
		enabled("alpha", "Sorts the mail of the day."), enabled("mail", "Says the news of the day."), enabled("beta", "Sorts the day.", "mail"),
		enabled("gamma", "Sorts the mail of the day, and then it does many other things with many other texts of the people who wrote to you."),
	})
	for query, want := range map[string][]string{
		"send a mail": {"mail", "beta", "alpha", "gamma"}, "news day": {"mail", "beta", "alpha", "gamma"}, "gam": {"gamma"}, "g": {}, "mail-x": {"mail", "beta", "alpha", "gamma"},
	} {
		if got := namesOf(c.Match(query, 0)); !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", query, got, want)
		}
	}
	if got := c.Match("day mail days", 1); len(got) != 1 || !slices.Equal(got[0].Terms, []string{"day", "mail"}) {
		t.Errorf("found %+v", got)
	}
}

// TestRarestWords: of a query with very many words those count that tell most.
func TestRarestWords(t *testing.T) {
	var documents []*Document
	var frequent []string
	for i := range 200 {
		frequent = append(frequent, fmt.Sprintf("frequent%c%c", 'a'+i/20, 'a'+i%20))
	}
	all := strings.Join(frequent, " ")
	for i := range 5 {
		documents = append(documents, enabled(fmt.Sprint("d", i), all))
	}
	documents = append(documents, enabled("rare", "singular"))
	got := NewCatalogue(documents).Match(all+" singular", 0)
	if !slices.Equal(namesOf(got), []string{"d0", "d1", "d2", "d3", "d4", "rare"}) || len(got[0].Terms) != maxTerms-1 || !slices.Equal(got[5].Terms, []string{"singular"}) {
		t.Errorf("found %v by %d and %v", namesOf(got), len(got[0].Terms), got[len(got)-1].Terms)
	}
}

// texts draws what people and models may write into a query or a skill.
func texts() *rapid.Generator[string] {
	word := rapid.SampledFrom([]string{
		"review", "Reviews", "pdf", "pdfTools", "the", "the", "the", "a", "change-log", "日本語", "語", "한국어", "don't", "x1", "\u202e", "é", "<b>", "&", "\xff", "🙂", "I", "ing", "s",
	})
	return rapid.OneOf(rapid.Map(rapid.SliceOfN(word, 0, 12), func(w []string) string { return strings.Join(w, " ") }), rapid.String())
}

func catalogues() *rapid.Generator[*Catalogue] {
	return rapid.Custom(func(t *rapid.T) *Catalogue {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c]{1,3}(-[a-c]{1,2}){0,2}|[A-Za-zé日本]{1,9}`), 1, 30, rapid.ID[string]).Draw(t, "names")
		var documents []*Document
		for _, name := range names {
			d := enabled(name, texts().Draw(t, "description"))
			d.PeopleOnly = rapid.IntRange(0, 9).Draw(t, "people") == 0
			d.Tier = rapid.SampledFrom([]sdk.SkillTier{sdk.TierBundled, sdk.TierUser, sdk.TierWorkspace}).Draw(t, "tier")
			documents = append(documents, d)
		}
		return NewCatalogue(documents)
	})
}

// better is the order of an answer.
func better(a, b Match) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return strings.Compare(a.Document.Name, b.Document.Name)
}

func TestMatchProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := catalogues().Draw(t, "catalogue")
		query := texts().Draw(t, "query")
		all := c.Match(query, 0)
		for i := 1; i < len(all); i++ {
			if better(all[i-1], all[i]) >= 0 {
				t.Fatalf("%q: %v before %v", query, all[i-1], all[i])
			}
		}
		for _, m := range all {
			if m.Score <= 0 {
				t.Fatalf("%q finds %s with a score of %v", query, m.Document.Name, m.Score)
			}
		}
		limit := rapid.IntRange(1, 12).Draw(t, "limit")
		if few := c.Match(query, limit); !slices.Equal(namesOf(few), namesOf(all)[:min(limit, len(all))]) {
			t.Fatalf("%q: the first %d are %v of %v", query, limit, namesOf(few), namesOf(all))
		}
		again := NewCatalogue(c.All()).Match(query, 0)
		if !slices.EqualFunc(again, all, func(a, b Match) bool {
			return a.Document == b.Document && a.Score == b.Score && slices.Equal(a.Terms, b.Terms)
		}) {
			t.Fatalf("%q gives another answer from the same documents", query)
		}
	})
}

// TestExactNameStaysFirst holds whatever other documents come.
func TestExactNameStaysFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := catalogues().Draw(t, "catalogue")
		wanted := rapid.SampledFrom(c.All()).Draw(t, "wanted")
		other := enabled("0"+wanted.Name+rapid.StringMatching(`[a-z0-9]{0,9}`).Draw(t, "other"), texts().Draw(t, "its description"))
		grown := NewCatalogue(append(c.All(), other))
		got := grown.Match(wanted.Name, 3)
		at := slices.Index(namesOf(got), wanted.Name)
		if at < 0 {
			t.Fatalf("%s is not found by its name: %v", wanted.Name, namesOf(got))
		}
		for _, m := range got[:at] {
			if plainName(m.Document.Name) != plainName(wanted.Name) {
				t.Fatalf("%s is behind %s when asked for by name", wanted.Name, m.Document.Name)
			}
		}
	})
}

func FuzzMatch(f *testing.F) {
	for _, seed := range []string{"", "review", "PDF-tools", "日本語要約", "A\u0308", "\xff\xfe", "don't", "''''", "\u202e\u200d", strings.Repeat("x ", maxQuery), "HTTPServerID", "ing eds ies"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		for _, m := range library.Match(query, 4) {
			if m.Score <= 0 {
				t.Errorf("%q finds %s with a score of %v", query, m.Document.Name, m.Score)
			}
		}
		l := List(NewCatalogue([]*Document{enabled("name", query), enabled("other", "Something.")}), 700, query)
		checkListing(t, l, 700)
	})
}

// many makes a catalogue of n skills in words whose frequencies fall as those
// of a language do, a few of them in nearly every text.
func many(n int) *Catalogue {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 2, 20_000)
	word := func() string {
		k := zipf.Uint64()
		var b strings.Builder
		for k += 7; k > 0; k /= 20 {
			b.WriteByte("bcdfghjklmnpqrstvwxz"[k%20])
			b.WriteByte("aeiou"[k%5])
		}
		return b.String()
	}
	documents := make([]*Document, n)
	for i := range documents {
		text := make([]string, 20+r.IntN(60))
		for j := range text {
			text[j] = word()
		}
		documents[i] = enabled(fmt.Sprintf("%s-%s-%04d", word(), word(), i), strings.Join(text, " "), word())
	}
	return NewCatalogue(documents)
}

// queries are words as they stand in the descriptions, the frequent more often.
func queries(c *Catalogue, words int) []string {
	r := rand.New(rand.NewPCG(3, 4))
	documents := c.Usable()
	list := make([]string, 500)
	for i := range list {
		var text []string
		for range words {
			all := strings.Fields(documents[r.IntN(len(documents))].Description)
			text = append(text, all[r.IntN(len(all))])
		}
		list[i] = strings.Join(text, " ")
	}
	return list
}

// BenchmarkMatch10k holds the goal of 5 ms at the 99th percentile over 10,000
// skills: for what a person types, for a prompt, for a whole page, and for all
// that a page finds, in order.
func BenchmarkMatch10k(b *testing.B) {
	c := many(10_000)
	c.Match("warm", 1)
	for _, run := range []struct {
		name         string
		words, limit int
	}{{"typed", 3, 10}, {"prompt", 40, 10}, {"page", 1500, 10}, {"ranked", 1500, 0}} {
		b.Run(run.name, func(b *testing.B) {
			list := queries(c, run.words)
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				begin := time.Now()
				c.Match(list[i%len(list)], run.limit)
				took = append(took, time.Since(begin))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

func BenchmarkIndex10k(b *testing.B) {
	c := many(10_000)
	documents := c.Usable()
	b.ReportAllocs()
	for b.Loop() {
		newSearch(documents)
	}
}

func TestSimilar(t *testing.T) {
	for name, want := range map[string][]string{
		"reveiw": {"review"}, "pdf": {"pdf-tools"}, "Summarise": {"summarize"}, "of": {"off"}, "tools for pdf": nil, "": nil, "quite another": nil,
	} {
		if got := library.Similar(name); !slices.Equal(got, want) {
			t.Errorf("%q is like %v, want %v", name, got, want)
		}
	}
}
