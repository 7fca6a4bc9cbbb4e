package main

import (
	"context"
	"slices"
	"sync"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// fakeSkills answers with what a test gave it, and keeps what it was asked.
type fakeSkills struct {
	mu       sync.Mutex
	list     rpc.Skills
	info     rpc.SkillInfo
	explain  rpc.SkillExplain
	matches  rpc.SkillMatches
	switched rpc.SkillSwitched
	created  rpc.SkillCreated
	trusted  rpc.Trust
	refuse   error // of an answer to it
	asked    []any
}

func (f *fakeSkills) was(question any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, question)
}

// last is what was asked at last.
func (f *fakeSkills) last() any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[len(f.asked)-1]
}

func (f *fakeSkills) known(name string) error {
	if slices.ContainsFunc(f.list.Skills, func(s sdk.Skill) bool { return s.Name == name }) {
		return nil
	}
	return sdk.Errorf(sdk.NotFound, "there is no skill %q", name)
}

func (f *fakeSkills) Skills(_ context.Context, p rpc.SkillQuery) (rpc.Skills, error) {
	f.was(p)
	found := f.list
	if p.Status != "" {
		found.Skills = slices.DeleteFunc(slices.Clone(found.Skills), func(s sdk.Skill) bool { return s.Status != p.Status })
	}
	return found, nil
}

func (f *fakeSkills) Skill(_ context.Context, p rpc.SkillQuery) (rpc.SkillInfo, error) {
	f.was(p)
	return f.info, f.known(p.Name)
}

func (f *fakeSkills) Explain(_ context.Context, p rpc.SkillExplainQuery) (rpc.SkillExplain, error) {
	f.was(p)
	return f.explain, nil
}

func (f *fakeSkills) Match(_ context.Context, p rpc.SkillMatchQuery) (rpc.SkillMatches, error) {
	f.was(p)
	return f.matches, nil
}

func (f *fakeSkills) Enable(_ context.Context, p rpc.SkillSwitch) (rpc.SkillSwitched, error) {
	f.was(p)
	return f.switched, f.known(p.Name)
}

func (f *fakeSkills) Create(_ context.Context, p rpc.SkillCreate) (rpc.SkillCreated, error) {
	f.was(p)
	return f.created, nil
}

func (f *fakeSkills) Trust(_ context.Context, p rpc.TrustQuery) (rpc.Trust, error) {
	f.was(p)
	if len(p.Accept) > 0 || p.Follow {
		return f.trusted, f.refuse
	}
	return f.trusted, nil
}
