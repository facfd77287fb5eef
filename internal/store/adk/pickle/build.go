package pickle

// These opcodes put values into others.

func setItem(m *machine) error {
	value, err := m.pop()
	if err != nil {
		return err
	}
	key, err := m.pop()
	if err != nil {
		return err
	}
	return m.fill([]any{key, value})
}

func setItems(m *machine) error {
	values, err := m.since()
	if err != nil {
		return err
	}
	return m.fill(values)
}

// fill gives the dictionary on top of the stack its keys and values.
func (m *machine) fill(values []any) error {
	top, err := m.top()
	if err != nil {
		return err
	}
	d, ok := top.(*Dict)
	if _, isObject := top.(*Object); !ok && !isObject || len(values)%2 != 0 {
		return errKind
	}
	for i := 0; i < len(values); i += 2 {
		switch values[i].(type) {
		case *List, *Dict: // Python cannot compare them either
			return errKind
		case nil, bool, int64, float64, string:
			if ok {
				d.Pairs = append(d.Pairs, [2]any{values[i], values[i+1]})
			}
		}
	}
	return nil
}

func appendItem(m *machine) error {
	value, err := m.pop()
	if err != nil {
		return err
	}
	return m.extend([]any{value})
}

func appendItems(m *machine) error {
	values, err := m.since()
	if err != nil {
		return err
	}
	return m.extend(values)
}

func (m *machine) extend(values []any) error {
	top, err := m.top()
	if err != nil {
		return err
	}
	switch l := top.(type) {
	case *List:
		l.Items = append(l.Items, values...)
	case *Object:
	default:
		return errKind
	}
	return nil
}

func addItems(m *machine) error {
	values, err := m.since()
	if err != nil {
		return err
	}
	top, err := m.top()
	if err != nil {
		return err
	}
	s, ok := top.(*Set)
	if !ok {
		return errKind
	}
	s.Items = append(s.Items, values...)
	return nil
}

func frozenSet(m *machine) error {
	values, err := m.since()
	if err != nil {
		return err
	}
	return m.push(&Set{Items: values})
}

func stackGlobal(m *machine) error {
	name, err := m.pop()
	if err != nil {
		return err
	}
	module, err := m.pop()
	if err != nil {
		return err
	}
	class, named := name.(string)
	of, known := module.(string)
	if !named || !known {
		return errKind
	}
	return m.push(Class{of, class})
}

// object makes an object of a class and what it would be called with: one value, or
// two with arguments by name, of which nothing here has a use.
func object(values int) func(*machine) error {
	return func(m *machine) error {
		var args any
		for range values {
			var err error
			if args, err = m.pop(); err != nil {
				return err
			}
		}
		class, err := m.pop()
		if err != nil {
			return err
		}
		c, ok := class.(Class)
		if !ok {
			return errKind
		}
		return m.push(&Object{Class: c, Args: args})
	}
}

func build(m *machine) error {
	state, err := m.pop()
	if err != nil {
		return err
	}
	top, err := m.top()
	if err != nil {
		return err
	}
	o, ok := top.(*Object)
	if !ok {
		return errKind
	}
	o.State = state
	return nil
}
