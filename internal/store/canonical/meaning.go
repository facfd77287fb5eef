package canonical

import "github.com/sessctl/sessctl/internal/session"

// flagsOf are the flags that a line states; the others follow from more.
func flagsOf(rec *itemLine) session.Flags {
	var flags session.Flags
	for _, f := range rec.flags() {
		if *f.member {
			flags |= f.flag
		}
	}
	return flags
}

// flagMember is a member that is one flag of the model.
type flagMember struct {
	flag   session.Flags
	member *bool
}

func (rec *itemLine) flags() [11]flagMember {
	return [...]flagMember{
		{session.Implicit, &rec.Implicit},
		{session.Archived, &rec.Archived},
		{session.Synthetic, &rec.Synthetic},
		{session.Unfinished, &rec.Unfinished},
		{session.Skipped, &rec.Skipped},
		{session.EmptyCalls, &rec.EmptyCalls},
		{session.Rewound, &rec.Rewound},
		{session.Compacted, &rec.Compacted},
		{session.Unshown, &rec.Unshown},
		{session.SummaryTurn, &rec.Summary},
		{session.BySegments, &rec.BySegments},
	}
}

// contentFlags are the flags that follow from what a message holds. What an
// unknown block holds may be anything, so that such a message is not blank.
func contentFlags(rec *itemLine, it *session.Item) session.Flags {
	flags := session.TextFlags(rec.Text.string)
	holds := len(it.Calls) > 0 || len(it.Results) > 0 || it.Has(session.MediaBlock) || it.Has(session.UnknownBlock)
	if !holds && isSpace(rec.Text.string) {
		flags |= session.Blank
	}
	if !holds && rec.Text.null && it.Role != session.Assistant && it.Role != session.NoRole {
		flags |= session.NullText
	}
	return flags
}

// size is about what a message adds to a request, in bytes.
func (rec *itemLine) size() int64 {
	if rec.Size > 0 {
		return rec.Size
	}
	n := len(rec.Text.string) + len(rec.Reasoning)
	for i := range rec.Calls {
		n += len(rec.Calls[i].Args)
	}
	for i := range rec.Results {
		n += len(rec.Results[i].Text.string)
	}
	return int64(n)
}

// meaningOf is the digest of what an item says. "raw" counts only where there
// is nothing else, in items of kind Other: elsewhere it holds bookkeeping that
// differs between twins.
func (r *itemReader) meaningOf(it *session.Item, rec *itemLine) session.Digest {
	m := &r.meaning
	m.Reset(it.Role, it.Agent)
	m.Mark(byte(it.Kind))
	m.Add(session.DigestOf(rec.Text.string))
	m.Add(session.DigestOf(rec.Reasoning))
	switch it.Kind {
	case session.Message:
		if it.Role == session.NoRole {
			m.Add(session.DigestOf(rec.Role))
		}
		addMessage(m, it)
	case session.SubSession:
		m.Add(session.DigestOf(it.Child))
	case session.Other:
		m.Add(session.DigestOf([]byte(rec.Stored.Raw)))
		m.Add(session.DigestOf(rec.Stored.RawBase64))
	}
	return m.Digest()
}

func addMessage(m *session.Meaning, it *session.Item) {
	m.Mark(bit(it.Has(session.MediaBlock)))
	for i := range it.Blocks {
		if b := &it.Blocks[i]; b.Kind == session.UnknownBlock {
			m.Add(session.DigestOf(b.Name))
		}
	}
	m.Mark('c')
	for i := range it.Calls {
		c := &it.Calls[i]
		m.Add(session.DigestOf(c.ID))
		m.Add(session.DigestOf(c.Name))
		m.Add(session.DigestOf(c.Args))
	}
	m.Mark('r')
	for i := range it.Results {
		res := &it.Results[i]
		m.Add(session.DigestOf(res.CallID))
		m.Add(session.DigestOf(res.Name))
		m.Add(res.Digest)
		m.Mark(bit(res.IsError))
	}
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
