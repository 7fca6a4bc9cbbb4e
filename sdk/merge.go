package sdk

// MergePatch patches target as RFC 7386, section 2 says: members of the patch that are
// null go, objects are merged, anything else takes the place of what is there. Both are as AnyJSON
// reads them, and target may be changed.
func MergePatch(target, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	t, ok := target.(map[string]any)
	if !ok {
		t = map[string]any{}
	}
	for name, value := range p {
		if value == nil {
			delete(t, name)
			continue
		}
		t[name] = MergePatch(t[name], value)
	}
	return t
}
