package agenttest

// NullTitle clears the title of a session: the runtime then lists no session at
// all.
func NullTitle(session string) Damage { return NullIn(session, "title") }

// NullIn clears a column of a session.
func NullIn(session, column string) Damage {
	return sets("NullIn", "UPDATE sessions SET "+column+" = NULL WHERE id = ?", session)
}

// BadJSON cuts a JSON column of a session: permissions, agent_model_overrides,
// custom_models_used, instruction_context or attributes.
func BadJSON(session, column string) Damage {
	return sets("BadJSON", "UPDATE sessions SET "+column+` = '{"allow":["sh' WHERE id = ?`, session)
}

// BadCreatedAt gives a session a creation time that need not be one.
func BadCreatedAt(session, createdAt string) Damage {
	return sets("BadCreatedAt", "UPDATE sessions SET created_at = ? WHERE id = ?", createdAt, session)
}

// WrongTotals gives a session token counts and a cost that its messages do not
// add up to.
func WrongTotals(session string) Damage {
	return sets("WrongTotals", "UPDATE sessions SET input_tokens = 987654, output_tokens = 54321, cost = 12.5 WHERE id = ?", session)
}

// InstructionContext is what sessions.instruction_context holds, as far as it
// refers to items.
type InstructionContext struct {
	EpochStart int64               `json:"epoch_start"` // index in the loaded list
	Updates    []InstructionUpdate `json:"updates,omitempty"`
}

// InstructionUpdate is a change of the instructions at an item.
type InstructionUpdate struct {
	Position int64  `json:"position"` // index in the loaded list
	Content  string `json:"content"`
}

// StaleInstructionContext lets a session's instruction context refer to items
// behind the last one. It needs generation 22.
func StaleInstructionContext(session string) Damage {
	return Damage{name: "StaleInstructionContext", apply: func(db *DB) {
		db.needs(22, "instruction_context")
		end := int64(len(db.itemRows(session)))
		db.change("UPDATE sessions SET instruction_context = ? WHERE id = ?", string(encode(InstructionContext{
			EpochStart: end + 7,
			Updates:    []InstructionUpdate{{Position: 1, Content: "Use tabs."}, {Position: end + 3, Content: "Use spaces."}},
		})), session)
	}}
}
