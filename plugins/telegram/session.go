package main

import "context"

func (f *front) fresh(ctx context.Context, m *message, _ string) (string, error)     { return "", nil }
func (f *front) resume(ctx context.Context, m *message, rest string) (string, error) { return "", nil }
func (f *front) takePress(ctx context.Context, p *press) error                       { return nil }
