package dockeragent

// record is a stored message before anything is derived from it: what either
// path found. Names and ids are unescaped, texts are literals.
type record struct {
	role, callID, createdAt, model    []byte
	content, reasoning, signature     literal // signature is that of the reasoning
	thought                           []byte  // the signature of calls and text, in base64
	parts                             []partRecord
	calls                             []callRecord
	isError, cached, hasUsage, marked bool
	tokensIn, tokensOut               int64
	cost                              float64
}

// partRecord is one part of multi_content. image and file tell an empty
// attachment from none; document is normalised JSON, nil for none. mimeType is
// that of the file or the document, and data the document's content in base64.
type partRecord struct {
	kind, text             literal
	image, file            bool
	url, detail            literal
	path, fileID, mimeType literal
	document               []byte
	data                   string
}

type callRecord struct {
	id, name  []byte
	arguments literal
}

func (r *record) reset() { *r = record{parts: r.parts[:0], calls: r.calls[:0]} }

// keySet remembers the keys of one object, by a number for each.
type keySet uint16

// add is false for a key that was there before: which one counts, and how two
// of them merge, is left to the exact path.
func (k *keySet) add(key int) bool {
	bit := keySet(1) << key
	repeated := *k&bit != 0
	*k |= bit
	return !repeated
}

// fast fills the record from the forms that docker agent writes. false means
// that the exact path has to look; it says nothing about the message.
func (d *decoder) fast(data []byte) bool {
	d.scan = scanner{data: data}
	s, r := &d.scan, &d.record
	r.reset()
	var seen keySet
	return s.members(func(key []byte) bool {
		switch string(key) {
		case "role":
			return seen.add(0) && s.plain(&r.role)
		case "content":
			return seen.add(1) && s.text(&r.content)
		case "reasoning_content":
			return seen.add(2) && s.text(&r.reasoning)
		case "tool_calls":
			return seen.add(3) && d.toolCalls()
		case "tool_call_id":
			return seen.add(4) && s.plain(&r.callID)
		case "created_at":
			return seen.add(5) && s.plain(&r.createdAt)
		case "model":
			return seen.add(6) && s.plain(&r.model)
		case "usage":
			return seen.add(7) && d.usage()
		case "cost":
			return seen.add(8) && s.float(&r.cost)
		case "is_error":
			return seen.add(9) && s.boolean(&r.isError)
		case "multi_content":
			return seen.add(10) && d.multiContent()
		case "sessctl":
			return seen.add(11) && s.marker(&r.marked)
		case "thinking_signature":
			return seen.add(12) && s.text(&r.signature)
		case "thought_signature":
			return seen.add(13) && s.base64(&r.thought)
		case "cache_control":
			return seen.add(14) && s.boolean(&r.cached)
		case "tool_definitions":
			return s.elements(d.definition)
		}
		return s.member(messageShape, key, 0)
	}) && s.atEnd()
}

// marker consumes the value of sessctl's own key.
func (s *scanner) marker(marked *bool) bool {
	s.next()
	from := s.pos
	if !s.value(nil, 1) {
		return false
	}
	*marked = string(s.data[from:s.pos]) == marker
	return true
}

func (d *decoder) toolCalls() bool {
	s, r := &d.scan, &d.record
	return s.elements(func() bool {
		var c callRecord
		var seen keySet
		ok := s.members(func(key []byte) bool {
			switch string(key) {
			case "id":
				return seen.add(0) && s.plain(&c.id)
			case "function":
				return seen.add(1) && s.function(&c)
			}
			return s.member(callShape, key, 0)
		})
		r.calls = append(r.calls, c)
		return ok
	})
}

func (s *scanner) function(c *callRecord) bool {
	var seen keySet
	return s.members(func(key []byte) bool {
		switch string(key) {
		case "name":
			return seen.add(0) && s.plain(&c.name)
		case "arguments":
			return seen.add(1) && s.text(&c.arguments)
		}
		return s.member(functionShape, key, 0)
	})
}

func (d *decoder) usage() bool {
	s, r := &d.scan, &d.record
	r.hasUsage = true
	var seen keySet
	return s.members(func(key []byte) bool {
		switch string(key) {
		case "input_tokens":
			return seen.add(0) && s.integer(&r.tokensIn)
		case "output_tokens":
			return seen.add(1) && s.integer(&r.tokensOut)
		}
		return s.member(usageShape, key, 0)
	})
}

func (d *decoder) multiContent() bool {
	s, r := &d.scan, &d.record
	return s.elements(func() bool {
		var p partRecord
		var seen keySet
		ok := s.members(func(key []byte) bool {
			switch string(key) {
			case "type":
				return seen.add(0) && s.text(&p.kind)
			case "text":
				return seen.add(1) && s.text(&p.text)
			case "image_url":
				return seen.add(2) && s.image(&p)
			case "file":
				return seen.add(3) && s.file(&p)
			case "document": // its meaning needs normalised JSON
				return false
			}
			return s.member(partShape, key, 0)
		})
		r.parts = append(r.parts, p)
		return ok
	})
}

func (s *scanner) image(p *partRecord) bool {
	p.image = true
	var seen keySet
	return s.members(func(key []byte) bool {
		switch string(key) {
		case "url":
			return seen.add(0) && s.text(&p.url)
		case "detail":
			return seen.add(1) && s.text(&p.detail)
		}
		return s.member(imageShape, key, 0)
	})
}

func (s *scanner) file(p *partRecord) bool {
	p.file = true
	var seen keySet
	return s.members(func(key []byte) bool {
		switch string(key) {
		case "path":
			return seen.add(0) && s.text(&p.path)
		case "file_id":
			return seen.add(1) && s.text(&p.fileID)
		case "mime_type":
			return seen.add(2) && s.text(&p.mimeType)
		}
		return s.member(fileShape, key, 0)
	})
}
