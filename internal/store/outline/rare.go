package outline

import (
	"encoding/binary"
	"time"

	"github.com/sessctl/sessctl/internal/session"
)

// What few calls have. A call with anything of it has a byte that says what.
const (
	callAsks = 1 << iota
	callRun
	callLikely
	callApart
	callTools
	callTimeout
	callCorrelation
)

func rareOfCall(c *session.Call) byte {
	rare := bit(c.Question != session.Question{}, callAsks)
	if d := c.Delegation; d != nil {
		rare |= bit(d.Run != "", callRun) | bit(d.Likely, callLikely) | bit(d.Apart, callApart) | bit(d.Tools != nil, callTools) |
			bit(d.Timeout != 0, callTimeout) | bit(d.Correlation != "", callCorrelation)
	}
	return rare
}

func (l *Log) packRareCall(b []byte, c *session.Call, rare byte) []byte {
	b = append(b, rare)
	if rare&callAsks != 0 {
		b = appendQuestion(b, c.Question)
	}
	d := c.Delegation
	if rare&callRun != 0 {
		b = appendString(b, d.Run)
	}
	if rare&callTools != 0 {
		b = binary.AppendUvarint(b, uint64(len(d.Tools)))
		for _, tool := range d.Tools {
			b = l.names.append(b, tool)
		}
	}
	if rare&callTimeout != 0 {
		b = binary.AppendVarint(b, int64(d.Timeout))
	}
	if rare&callCorrelation != 0 {
		b = appendString(b, d.Correlation)
	}
	return b
}

func (l *Log) unpackRareCall(r *reader, c *session.Call) {
	rare, d := r.byte(), c.Delegation
	if rare&callAsks != 0 {
		c.Question = r.question()
	}
	if d == nil {
		return
	}
	d.Likely, d.Apart = rare&callLikely != 0, rare&callApart != 0
	if rare&callRun != 0 {
		d.Run = r.string()
	}
	if rare&callTools != 0 {
		d.Tools = make([]string, r.uint())
		for i := range d.Tools {
			d.Tools[i] = l.names.read(r)
		}
	}
	if rare&callTimeout != 0 {
		d.Timeout = time.Duration(r.int())
	}
	if rare&callCorrelation != 0 {
		d.Correlation = r.string()
	}
}

// What few results have.
const (
	resultAsks = 1 << iota
	resultChild
	resultAnswer
	resultCorrelation
)

func rareOfResult(r *session.Result) byte {
	return bit(r.Question != session.Question{}, resultAsks) | bit(r.Child != "", resultChild) | bit(r.Answer != 0, resultAnswer) |
		bit(r.Correlation != "", resultCorrelation)
}

func packRareResult(b []byte, r *session.Result, rare byte) []byte {
	b = append(b, rare)
	if rare&resultAsks != 0 {
		b = appendQuestion(b, r.Question)
	}
	if rare&resultChild != 0 {
		b = appendString(b, r.Child)
	}
	if rare&resultAnswer != 0 {
		b = appendDigest(b, r.Answer)
	}
	if rare&resultCorrelation != 0 {
		b = appendString(b, r.Correlation)
	}
	return b
}

func unpackRareResult(r *reader, res *session.Result) {
	rare := r.byte()
	if rare&resultAsks != 0 {
		res.Question = r.question()
	}
	if rare&resultChild != 0 {
		res.Child = r.string()
	}
	if rare&resultAnswer != 0 {
		res.Answer = r.digest()
	}
	if rare&resultCorrelation != 0 {
		res.Correlation = r.string()
	}
}

func appendQuestion(b []byte, q session.Question) []byte {
	return appendString(appendString(b, q.Child), q.Run)
}

func (r *reader) question() session.Question {
	return session.Question{Child: r.string(), Run: r.string()}
}

// The bits of an output.
const (
	isOutside = 1 << iota
	isHash
)

func packOutputs(b []byte, list []session.Output) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for i := range list {
		o := &list[i]
		b = append(b, bit(o.Outside, isOutside)|bit(o.Hash, isHash))
		b = binary.AppendVarint(appendString(appendString(b, o.Path), o.Real), o.Bytes)
	}
	return b
}

func unpackOutputs(r *reader) []session.Output {
	list := make([]session.Output, r.uint())
	for i := range list {
		bits := r.byte()
		list[i] = session.Output{Path: r.string(), Real: r.string(), Bytes: r.int(), Outside: bits&isOutside != 0, Hash: bits&isHash != 0}
	}
	return list
}
