-- Damages of docker agent databases: what each breaks, and in which row or session (?1),
-- is said behind its name. A statement that changes no row did not fit the database.
--
-- dense:   afterwards the items of every session are counted anew, so that a position
--          between two others makes a place.
-- keys:    foreign keys act, as they do for the runtime.
-- older:   the messages column is from before the damage.

--- DropResult loses the result of a call, as a cancelled run does. dense
DELETE FROM session_items WHERE id = ?1 AND message_json->>'role' = 'tool';

--- DuplicateResult stores a result twice in a row. dense
INSERT INTO session_items (session_id, position, item_type, agent_name, message_json)
SELECT session_id, position + 0.5, 'message', agent_name, message_json
FROM session_items WHERE id = ?1 AND message_json->>'role' = 'tool';

--- ConflictingResult stores a second result of the same call that says ?2. dense
INSERT INTO session_items (session_id, position, item_type, agent_name, message_json)
SELECT session_id, position + 0.5, 'message', agent_name, json_set(message_json, '$.content', ?2)
FROM session_items WHERE id = ?1 AND message_json->>'role' = 'tool';

--- DelayResult moves a result behind the next ?2 items. dense
UPDATE session_items SET position = position + ?2 + 0.5 WHERE id = ?1 AND message_json->>'role' = 'tool';

--- EarlyResult moves a result before the message with its call. dense
UPDATE session_items AS result SET position = caller.position - 0.5 FROM session_items AS caller
WHERE result.id = ?1 AND caller.id = (SELECT session_items.id FROM session_items, json_each(message_json, '$.tool_calls') AS call
	WHERE session_id = result.session_id AND position < result.position AND call.value->>'id' = result.message_json->>'tool_call_id'
	ORDER BY position DESC LIMIT 1);

--- OrphanResult stores, behind a row, a result of the call ?2 that nobody made. dense
INSERT INTO session_items (session_id, position, item_type, agent_name, message_json)
SELECT session_id, position + 0.5, 'message', agent_name,
	json_object('role', 'tool', 'content', 'found nothing', 'tool_call_id', ?2, 'created_at', message_json->>'created_at')
FROM session_items WHERE id = ?1;

--- LoseCall removes the calls of an answer, so that their results answer nothing.
UPDATE session_items SET message_json = json_remove(message_json, '$.tool_calls', '$.tool_definitions')
WHERE id = ?1 AND json_array_length(message_json, '$.tool_calls') > 0;

--- ResultAgentMismatch puts the name of the agent ?2 on a result.
UPDATE session_items SET agent_name = ?2 WHERE id = ?1 AND message_json->>'role' = 'tool';

--- ConcurrentUser stores the question ?2 before a result, as a second terminal on the session does. dense
INSERT INTO session_items (session_id, position, item_type, agent_name, message_json)
SELECT session_id, position - 0.5, 'message', '', json_object('role', 'user', 'content', ?2, 'created_at', message_json->>'created_at')
FROM session_items WHERE id = ?1 AND message_json->>'role' = 'tool';

--- UndecodableMessage cuts the JSON of a message in the middle.
UPDATE session_items SET message_json = CAST(substr(CAST(message_json AS BLOB), 1, octet_length(message_json) / 2) AS TEXT)
WHERE id = ?1 AND item_type = 'message';

--- BlankMessage leaves nothing but white space of a message.
UPDATE session_items SET message_json = json_remove(json_set(message_json, '$.content', ' ' || char(10)), '$.multi_content',
	'$.reasoning_content', '$.tool_calls', '$.tool_definitions', '$.tool_call_id', '$.is_error', '$.usage', '$.cost')
WHERE id = ?1 AND item_type = 'message';

--- UnknownRole gives a message the role ?2, which no provider knows.
UPDATE session_items SET message_json = json_set(message_json, '$.role', ?2) WHERE id = ?1 AND item_type = 'message';

--- BadArguments cuts the arguments of the message's first call.
UPDATE session_items SET message_json = json_set(message_json, '$.tool_calls[0].function.arguments', '{"cmd":"ls')
WHERE id = ?1 AND json_array_length(message_json, '$.tool_calls') > 0;

--- EmptyCallID takes the id from the message's first call.
UPDATE session_items SET message_json = json_remove(message_json, '$.tool_calls[0].id')
WHERE id = ?1 AND json_array_length(message_json, '$.tool_calls') > 0;

--- TimeGoesBack dates a message one hour earlier.
UPDATE session_items SET message_json = json_set(message_json, '$.created_at',
	strftime('%Y-%m-%dT%H:%M:%S', substr(message_json->>'created_at', 1, 19), '-1 hour') || substr(message_json->>'created_at', 20))
WHERE id = ?1 AND item_type = 'message';

--- MisplacedSystem stores a system message behind a row. dense
INSERT INTO session_items (session_id, position, item_type, agent_name, message_json)
SELECT session_id, position + 0.5, 'message', '', json_object('role', 'system', 'content', 'Be brief.', 'created_at', message_json->>'created_at')
FROM session_items WHERE id = ?1;

--- StrayPromptCopy stores the text of a message once more as if the user had said it. dense
INSERT INTO session_items (session_id, position, item_type, agent_name, message_json)
SELECT session_id, position + 0.5, 'message', '', json_object('role', 'user', 'content', message_json->'content', 'created_at', message_json->>'created_at')
FROM session_items WHERE id = ?1;

--- DanglingReference makes a reference point to a session that does not exist.
UPDATE session_items SET subsession_id = 'gone-' || subsession_id WHERE id = ?1 AND item_type = 'subsession';

--- UnreferencedChild takes the reference to a child away; the child stays whole. dense
DELETE FROM session_items WHERE id = ?1 AND subsession_id IS NOT NULL;

--- DropSessionRow takes the row of a session and leaves its items and everything that refers to it.
DELETE FROM sessions WHERE id = ?1;

--- DeleteSession deletes a session as the runtime does: its items and children go, references to it become NULL. keys
DELETE FROM sessions WHERE id = ?1;

--- WrongParent makes a child name the parent ?2, which does not refer to it.
UPDATE sessions SET parent_id = ?2 WHERE id = ?1;

--- ParentCycle makes a session the parent of its own ancestor ?2.
UPDATE sessions SET parent_id = ?1 WHERE id = ?2;

--- ReferenceCycle makes a session refer to its own ancestor ?2.
INSERT INTO session_items (session_id, position, item_type, subsession_id)
SELECT ?1, COALESCE(MAX(position), -1) + 1, 'subsession', ?2 FROM session_items WHERE session_id = ?1;

--- TwoReferrers lets the session ?2 refer to the child that a row refers to, too.
INSERT INTO session_items (session_id, position, item_type, subsession_id)
SELECT ?2, COALESCE(MAX(position), -1) + 1, 'subsession', (SELECT subsession_id FROM session_items WHERE id = ?1)
FROM session_items WHERE session_id = ?2;

--- StrayChildRoot cuts the child that a row refers to off from its parent: it looks like a session that a user started. dense
UPDATE sessions SET parent_id = NULL WHERE id = (SELECT subsession_id FROM session_items WHERE id = ?1);
DELETE FROM session_items WHERE id = ?1;

--- EmptyChild takes all items of a session.
DELETE FROM session_items WHERE session_id = ?1;

--- MissingPrologue takes the task and the start message of a child. dense
DELETE FROM session_items WHERE session_id = ?1 AND position < 2;

--- NegativePosition moves a row before the start of its session.
UPDATE session_items SET position = -1 - position WHERE id = ?1;

--- DoubledPosition gives a row the position of the one before it.
UPDATE session_items SET position = position - 1 WHERE id = ?1 AND position > 0;

--- UnknownItemType gives a row the type ?2, which readers skip.
UPDATE session_items SET item_type = ?2 WHERE id = ?1;

--- NullTitle clears the title of a session: the runtime then lists no session at all.
UPDATE sessions SET title = NULL WHERE id = ?1;

--- BadJSON cuts the attributes of a session.
UPDATE sessions SET attributes = '{"allow":["sh' WHERE id = ?1;

--- BadCreatedAt gives a session the creation time ?2, which need not be one.
UPDATE sessions SET created_at = ?2 WHERE id = ?1;

--- WrongTotals gives a session token counts and a cost that its messages do not add up to.
UPDATE sessions SET input_tokens = 987654, output_tokens = 54321, cost = 12.5 WHERE id = ?1;

--- StaleInstructionContext lets a session's instruction context refer to items behind the last one.
UPDATE sessions SET instruction_context = (SELECT printf('{"epoch_start":%d,"updates":[{"position":1,"content":"Use tabs."},{"position":%d,"content":"Use spaces."}]}',
	COUNT(*) + 7, COUNT(*) + 3) FROM session_items WHERE session_id = ?1)
WHERE id = ?1;

--- EmptySummary takes the text of a summary.
UPDATE session_items SET summary_text = '' WHERE id = ?1 AND item_type = 'summary';

--- BadUsage cuts the usage of a summary.
UPDATE session_items SET usage_json = '{"input_tokens":' WHERE id = ?1 AND item_type = 'summary';

--- BoundaryInsidePair lets the tail that a summary keeps begin with a result whose call it does not keep.
UPDATE session_items AS summary SET first_kept_entry = kept.position FROM session_items AS kept
WHERE summary.id = ?1 AND summary.item_type = 'summary' AND kept.id = (SELECT id FROM session_items
	WHERE session_id = summary.session_id AND position < summary.position AND message_json->>'role' = 'tool' ORDER BY position DESC LIMIT 1);

--- BoundaryOutOfRange lets the tail that a summary keeps begin behind the last item.
UPDATE session_items AS summary SET first_kept_entry = (SELECT COUNT(*) + 5 FROM session_items WHERE session_id = summary.session_id)
WHERE id = ?1 AND item_type = 'summary';

--- BoundaryInHistory lets the tail that a summary keeps begin before an earlier summary.
UPDATE session_items AS summary SET first_kept_entry = kept.position FROM session_items AS kept
WHERE summary.id = ?1 AND summary.item_type = 'summary' AND kept.id = (SELECT id FROM session_items
	WHERE session_id = summary.session_id AND message_json->>'role' IN ('user', 'assistant') AND position < (SELECT MAX(position) FROM session_items
		WHERE session_id = summary.session_id AND item_type = 'summary' AND position < summary.position)
	ORDER BY position DESC LIMIT 1);

--- LegacyColumnFuller loses the last ?2 items of a session, while the messages column still has them. older
DELETE FROM session_items WHERE id IN (SELECT id FROM session_items
	WHERE session_id = ?1 AND EXISTS (SELECT messages FROM sessions) ORDER BY position DESC LIMIT ?2);

--- NewerMigration records a migration that nobody knows yet.
INSERT INTO migrations SELECT MAX(id) + 100, printf('%03d_from_the_future', MAX(id) + 100), 'Something new', MAX(applied_at) FROM migrations;

--- OrphanMedia records a generated file of a session that does not exist.
INSERT INTO generated_media_manifest (session_id, rel_path, mime_type, created_at)
SELECT 'gone', 'chart.png', 'image/png', MAX(applied_at) FROM migrations;
