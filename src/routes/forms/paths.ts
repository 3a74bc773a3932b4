/** Where the forms are, behind the path of a remote. */
export const ISSUE_FORM = '/new-issue';
export const REPLY_FORM = '/reply';
export const CHANGE_FORM = '/change';
export const WITHDRAW_FORM = '/withdraw';
