-- What all sessions of a database say: see Shape.
WITH RECURSIVE
item AS MATERIALIZED (
	SELECT session_id, subsession_id, ROW_NUMBER() OVER (PARTITION BY session_id ORDER BY position, id) AS place, item_type || CASE item_type
		WHEN 'message' THEN
			' agent=' || json_quote(COALESCE(agent_name, '')) || ' ' || (message_json->>'role') || ' ' || json_quote(message_json->>'content')
			|| iif(message_json->>'reasoning_content' IS NULL, '', ' reasoning=' || json_quote(message_json->>'reasoning_content'))
			|| COALESCE((SELECT group_concat(' call[' || (call.value->>'id') || ' ' || (call.value->>'$.function.name') || ' '
				|| COALESCE((SELECT json_group_object(arg.key, call.value->>'$.function.arguments'->arg.fullkey ORDER BY arg.key)
					FROM json_each(call.value->>'$.function.arguments') AS arg), '') || ']', '')
				FROM json_each(message_json, '$.tool_calls') AS call), '')
			|| COALESCE(' result[' || (message_json->>'tool_call_id') || ' error=' || iif(message_json->>'is_error', 'true', 'false') || ']', '')
			|| iif(implicit, ' implicit', '')
		WHEN 'summary' THEN ' ' || json_quote(summary_text)
		ELSE '' END AS says
	FROM session_items
),
line(path, depth, session, says) AS (
	SELECT printf('%08d', rowid), 0, id, 'session ' || json_quote(COALESCE(title, '')) || ' child=' || iif(COALESCE(parent_id, '') != '', 'true', 'false')
	FROM sessions WHERE id NOT IN (SELECT subsession_id FROM session_items WHERE subsession_id IS NOT NULL)
	UNION ALL
	SELECT path || printf('%08d', place), depth + 1, subsession_id, item.says FROM line JOIN item ON session_id = session WHERE depth < 100
)
SELECT COALESCE(group_concat(replace(hex(zeroblob(depth)), '00', '  ') || says || char(10), '' ORDER BY path), '') FROM line
