package server

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Files tells of the files that a project has, under the rules for secrets.
type Files interface {
	Find(ctx context.Context, p rpc.FilesParams) (rpc.Files, error)
	Read(ctx context.Context, p rpc.FileParams) (rpc.FileText, error)
	// Tree are the files of a project that are entries and that a pattern fits, by path.
	Tree(ctx context.Context, p sdk.Project, pattern string) ([]rpc.TreeFile, error)
	Constraints(ctx context.Context, p sdk.Project) ([]sdk.FileConstraint, error)
}

// Folders puts files into the folders of private runs, and reads what is there.
type Folders interface {
	Write(run sdk.Run, p rpc.WorkspaceWrite) (rpc.WorkspaceWritten, error)
	Read(run sdk.Run, p rpc.WorkspaceRead) (rpc.WorkspacePiece, error)
}

func (s *Server) writeWorkspace(_ context.Context, run sdk.Run, p rpc.WorkspaceWrite) (rpc.WorkspaceWritten, error) {
	return s.cfg.Folders.Write(run, p)
}

func (s *Server) readWorkspace(_ context.Context, run sdk.Run, p rpc.WorkspaceRead) (rpc.WorkspacePiece, error) {
	return s.cfg.Folders.Read(run, p)
}

func (s *Server) files(ctx context.Context, _ *conn, p rpc.FilesParams) (rpc.Files, error) {
	if err := s.workable(rpc.MethodFiles, p.Project); err != nil {
		return rpc.Files{}, err
	}
	limit, err := page(rpc.MethodFiles, p.Limit, 0)
	if err != nil {
		return rpc.Files{}, err
	}
	p.Limit = limit
	return s.cfg.Files.Find(ctx, p)
}

func (s *Server) file(ctx context.Context, _ *conn, p rpc.FileParams) (rpc.FileText, error) {
	if err := s.workable(rpc.MethodFile, p.Project); err != nil {
		return rpc.FileText{}, err
	}
	return s.cfg.Files.Read(ctx, p)
}

func (s *Server) tree(ctx context.Context, _ *conn, p rpc.TreeParams) (rpc.Tree, error) {
	limit, err := page(rpc.MethodTree, p.Limit, p.Offset)
	if err != nil {
		return rpc.Tree{}, err
	}
	answer := rpc.Tree{Files: []rpc.TreeFile{}}
	at, known, err := s.project(ctx, p.Project)
	if err != nil || !known {
		return answer, err
	}
	all, err := s.cfg.Files.Tree(ctx, at, p.Pattern)
	if err != nil {
		return answer, err
	}
	answer.Found = len(all)
	end := min(p.Offset+limit, len(all))
	if answer.Files = append(answer.Files, all[min(p.Offset, len(all)):max(end, min(p.Offset, len(all)))]...); end < len(all) {
		answer.Next = end
	}
	return answer, nil
}

func (s *Server) scan(ctx context.Context, _ *conn, p rpc.ProjectParams) (rpc.ProjectScan, error) {
	if err := s.workable(rpc.MethodScan, p.Project); err != nil {
		return rpc.ProjectScan{}, err
	}
	at, done, err := s.cfg.Engine.ScanProject(ctx, p.Project)
	return rpc.ProjectScan{Project: at.Root, Scanned: done}, err
}

func (s *Server) constraints(ctx context.Context, _ *conn, p rpc.ProjectParams) (rpc.Constraints, error) {
	at, known, err := s.project(ctx, p.Project)
	if err != nil || !known {
		return rpc.Constraints{Constraints: []sdk.FileConstraint{}}, err
	}
	all, err := s.cfg.Files.Constraints(ctx, at)
	return rpc.Constraints{Constraints: orEmpty(all)}, err
}

func (s *Server) constrain(ctx context.Context, _ *conn, p rpc.Constrain) (rpc.ProjectScan, error) {
	if err := s.workable(rpc.MethodConstrain, p.Project); err != nil {
		return rpc.ProjectScan{}, err
	}
	at, done, err := s.cfg.Engine.ConstrainProject(ctx, p.Project, p.Pattern, p.Constraint)
	return rpc.ProjectScan{Project: at.Root, Scanned: done}, err
}
