package conformance

import (
	"context"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
)

// SkillChecks are the checks of the kind skill. A skill is executed only with
// Subject.Call: nobody can tell what it does.
func SkillChecks(m sdk.Manifest) []Check {
	checks := []Check{
		{"skill: unknown skill", func(ctx context.Context, s Subject) error {
			end, err := execute(ctx, s, noSkill, "conformance", time.Now().Add(patience))
			return wants(end, err, sdk.NotFound, "the execution of a skill that there is not")
		}},
		{"skill: cancel of an execution that is over", func(ctx context.Context, s Subject) error {
			return cancelled(ctx, s, canceller(pb.NewSkillClient(s.Conn), noCall))
		}},
	}
	for _, name := range m.Skills {
		checks = append(checks, Check{"skill " + name, func(ctx context.Context, s Subject) error { return executed(ctx, s, name) }})
	}
	return checks
}

func execute(ctx context.Context, s Subject, name, id string, deadline time.Time) (end ending, err error) {
	err = within(ctx, "the execution of "+name, patience+grace, func(ctx context.Context) (err error) {
		end, err = pieces(pb.NewSkillClient(s.Conn).Execute(ctx, &pb.ExecuteRequest{
			Skill: name, Input: "conformance", Body: "# Conformance\n", Folder: s.RunDir, Model: "conformance/none", CallId: id,
			Run: "conformance", Project: s.project(), RunDir: s.RunDir, DeadlineUnixMs: deadline.UnixMilli(),
		}))
		return err
	})
	return end, err
}

// executed executes one skill, and once more to stop it on its way.
func executed(ctx context.Context, s Subject, name string) error {
	if !s.Call {
		return Skip("give --call to have it executed")
	}
	if _, err := execute(ctx, s, name, "conformance", time.Now().Add(patience)); err != nil {
		return err
	}
	err := stopped(ctx, pb.NewSkillClient(s.Conn), func(id string) error {
		_, err := execute(ctx, s, name, id, time.Now().Add(patience))
		return err
	})
	if err != nil {
		return err
	}
	return alive(ctx, s)
}
