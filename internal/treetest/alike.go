package treetest

import (
	"github.com/google/go-cmp/cmp"

	"github.com/sessctl/sessctl/internal/session"
)

// AlikeShared compares what items share by its fields, and takes none for one without any.
var AlikeShared = cmp.Transformer("AlikeShared", func(s *session.Shared) session.Shared {
	if s == nil {
		return session.Shared{}
	}
	return *s
})
