package cmd

import (
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/sessctl/sessctl/internal/problem"
	"github.com/sessctl/sessctl/internal/session"
)

// shard is one of several parts that together are all session trees, for machines that
// share the work. The zero value is no part: everything.
type shard struct {
	number, count uint32 // from 1 to count
}

// parseShard reads "2/8".
func parseShard(text string) (shard, error) {
	first, second, _ := strings.Cut(text, "/")
	number, err1 := strconv.ParseUint(first, 10, 16)
	count, err2 := strconv.ParseUint(second, 10, 16)
	if err1 != nil || err2 != nil || number < 1 || number > count {
		return shard{}, problem.New(problem.Usage, "Write it as I/N, with N up to 65535 and I from 1 to N: the third of four is --shard 3/4.", "--shard %q is no shard", text)
	}
	return shard{uint32(number), uint32(count)}, nil
}

func (s shard) String() string { return strconv.Itoa(int(s.number)) + "/" + strconv.Itoa(int(s.count)) }

// isWhole reports whether nothing is left out.
func (s shard) isWhole() bool { return s.count == 0 }

// hasStoreFindings reports whether what concerns a store as a whole belongs to it.
func (s shard) hasStoreFindings() bool { return s.isWhole() || s.number == 1 }

// hasTree reports whether a tree belongs to it. Only the id of the root decides, so that
// every version, and every other tool, comes to the same.
func (s shard) hasTree(tree *session.Tree) bool { return s.isWhole() || s.shardOf(tree.Root().ID) == s }

// shardOf is the shard of the same count that a root session belongs to: its number is one
// more than the 32-bit FNV-1a hash of the id's bytes modulo the count.
func (s shard) shardOf(root string) shard {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(root)) // never fails
	return shard{hash.Sum32()%s.count + 1, s.count}
}

// requireTree refuses a session that another shard checks.
func (s shard) requireTree(id string, tree *session.Tree) error {
	if s.hasTree(tree) {
		return nil
	}
	other := s.shardOf(tree.Root().ID)
	return problem.New(problem.Usage, "Leave --shard out, or use --shard "+other.String()+".", "session %q belongs to shard %v, and not to %v", id, other, s)
}
