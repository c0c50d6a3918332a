(** Headline results of the claims, stated in full: definitions first, then theorems for all reals. Written by hand, and checked like the
    exported files. Each has the name of its claim, under which `simopt show` has the words and the place in the paper. Those that take longer
    have files of their own: Sparse.v, Isotron.v, Ranking.v, Stability.v, Ordinal.v, Chain.v. *)

From Simopt Require Import Spaces.
Open Scope R_scope.

(** * Definitions *)

(** What a support vector machine without intercept minimises. *)
Definition svm {E : space} (lam : R) (l : list E) (w : E) : R := mean (map (fun p => hinge (1 - inner w p)) l) + lam / 2 * norm2 w.
Definition svm_optimal {E : space} (lam : R) (l : list E) (w : E) : Prop := forall v, svm lam l w <= svm lam l v.

(** A finite world is a list of points with masses and labels; goodness of a similarity and of a kernel on the line, for |y - f|. *)
Definition world := list (R * (R * R)).
Definition expect (p : world) (g : R -> R -> R) : R := sum (map (fun a => fst a * g (fst (snd a)) (snd (snd a))) p).
Definition predicted (K : R -> R -> R) (p : world) (w : R -> R) (x : R) : R := expect p (fun x' _ => w x' * K x x').
Definition good_similarity (K : R -> R -> R) (p : world) (eps B : R) : Prop :=
  exists w, (forall x, Rabs (w x) <= B) /\ expect p (fun x y => Rabs (y - predicted K p w x)) <= eps.
Definition linear (x x' : R) : R := x * x'.
Definition good_linear_kernel (p : world) (eps gamma : R) : Prop :=
  exists W, Rabs W <= 1 /\ expect p (fun x y => Rabs (y - W * x / gamma)) <= eps.

(** Labels 1 and 2 with one threshold b between them: margin loss, and goodness for it. *)
Definition margin_loss_two (gamma b f y : R) : R := if Req_EM_T y 2 then hinge (b + gamma - f) else hinge (f - b + gamma).
Definition good_ordinal (K : R -> R -> R) (p : world) (gamma eps B : R) : Prop :=
  exists w b, (forall x, Rabs (w x) <= B) /\ expect p (fun x y => margin_loss_two gamma b (predicted K p w x) y) <= eps.
Definition good_ordinal_kernel (p : world) (eps gamma : R) : Prop :=
  exists W b, Rabs W <= 1 /\ expect p (fun x y => margin_loss_two 1 b (W * x / gamma) y) <= eps.

(** * RMW-SVMl: the mean classifier is the solution of the support vector machine from lambda* = max_i <omega, psi_i> on, and only there *)

Lemma svm_below {E : space} lam (l : list E) w : l <> [] -> 0 < lam ->
  1 - norm2 (mean_map l) / (2 * lam) + lam / 2 * norm2 (minus w (scale (/ lam) (mean_map l))) <= svm lam l w.
Proof.
  intros N L. unfold svm. set (o := mean_map l).
  assert (A : 1 - inner o w <= mean (map (fun p => hinge (1 - inner w p)) l)).
  { unfold o. rewrite inner_mean. unfold mean. rewrite !map_length. generalize (length_positive l N). intros P.
    apply (Rmult_le_reg_r (INR (length l))); [easy|].
    replace ((1 - sum (map (fun p : E => inner w p) l) / INR (length l)) * INR (length l))
      with (INR (length l) + -1 * sum (map (fun p : E => inner w p) l)) by (field; lra).
    unfold Rdiv. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. rewrite <- sum_one, <- sum_scale, <- sum_add.
    apply sum_le. intros p _. generalize (hinge_above (1 - inner w p)). lra. }
  assert (B : norm2 (minus w (scale (/ lam) o)) = norm2 w - 2 / lam * inner o w + / lam * / lam * norm2 o).
  { unfold norm2, minus. rewrite !inner_add, !inner_add_right, !inner_scale, !inner_scale_right, (inner_symmetric _ w o). field. lra. }
  rewrite B. replace (1 - norm2 o / (2 * lam) + lam / 2 * (norm2 w - 2 / lam * inner o w + / lam * / lam * norm2 o))
    with (1 - inner o w + lam / 2 * norm2 w) by (field; lra). lra.
Qed.

Lemma svm_at_mean {E : space} lam (l : list E) : l <> [] -> 0 < lam -> (forall p, In p l -> inner (mean_map l) p <= lam) ->
  svm lam l (scale (/ lam) (mean_map l)) = 1 - norm2 (mean_map l) / (2 * lam).
Proof.
  intros N L H. unfold svm, norm2. rewrite inner_scale, inner_scale_right. set (o := mean_map l).
  assert (A : mean (map (fun p => hinge (1 - inner (scale (/ lam) o) p)) l) = 1 - / lam * inner o o).
  { assert (G : map (fun p => hinge (1 - inner (scale (/ lam) o) p)) l = map (fun p => 1 + - / lam * inner o p) l).
    { apply map_ext_in. intros p I. rewrite inner_scale, hinge_of_positive; [ring|]. specialize (H p I). fold o in H.
      assert (/ lam * inner o p <= / lam * lam) by (apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat | easy]).
      rewrite Rinv_l in *; lra. }
    rewrite G. rewrite (inner_mean l o : inner o o = _). unfold mean. rewrite !map_length, sum_add, sum_one, sum_scale.
    change (map (fun p : E => inner o p) l) with (map (inner o) l). generalize (length_positive l N). intros. field. lra. }
  rewrite A. field. lra.
Qed.

Theorem RMW_SVMl_from_the_threshold_on {E : space} lam (l : list E) : l <> [] -> 0 < lam ->
  (forall p, In p l -> inner (mean_map l) p <= lam) -> svm_optimal lam l (scale (/ lam) (mean_map l)).
Proof.
  intros N L H w. rewrite svm_at_mean by easy. generalize (svm_below lam l w N L) (inner_positive _ (minus w (scale (/ lam) (mean_map l)))).
  unfold norm2. intros. nra.
Qed.

(** The solution is unique there: what minimises is at distance 0. *)
Theorem RMW_SVMl_unique {E : space} lam (l : list E) w : l <> [] -> 0 < lam ->
  (forall p, In p l -> inner (mean_map l) p <= lam) -> svm_optimal lam l w -> norm2 (minus w (scale (/ lam) (mean_map l))) = 0.
Proof.
  intros N L H O. specialize (O (scale (/ lam) (mean_map l))). rewrite svm_at_mean in O by easy.
  generalize (svm_below lam l w N L) (inner_positive _ (minus w (scale (/ lam) (mean_map l)))). unfold norm2 in *. intros. nra.
Qed.

(** A little less than the mean loses less where one margin is beyond the threshold. *)
Lemma shrink lam (m : list R) : 0 < lam -> exists d, 0 < d <= 1 /\ forall x t, In x m -> lam < x -> 0 <= t <= d -> lam <= (1 - t) * x.
Proof.
  intros L. induction m as [|y m [d [D H]]].
  - exists 1. split; [lra|]. easy.
  - destruct (Rle_lt_dec y lam) as [Y|Y].
    + exists d. split; [easy|]. intros x t [<-|I] X T; [lra | now apply H].
    + exists (Rmin d (1 - lam / y)). assert (0 < lam / y < 1).
      { split; [apply Rdiv_lt_0_compat; lra|]. apply (Rmult_lt_reg_r y); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
      split; [split; [apply Rmin_glb_lt; lra | generalize (Rmin_l d (1 - lam / y)); lra]|].
      intros x t I X T. generalize (Rmin_l d (1 - lam / y)) (Rmin_r d (1 - lam / y)). intros A B. destruct I as [<-|I].
      * assert (lam / y * y <= (1 - t) * y) by (apply Rmult_le_compat_r; lra). unfold Rdiv in *. rewrite Rmult_assoc, Rinv_l in *; lra.
      * apply H; auto; lra.
Qed.

Definition beyond (lam x : R) : R := if Rle_lt_dec x lam then 0 else x.

Theorem RMW_SVMl_only_there {E : space} lam (l : list E) : 0 < lam ->
  svm_optimal lam l (scale (/ lam) (mean_map l)) -> forall p, In p l -> inner (mean_map l) p <= lam.
Proof.
  intros L O q Q. destruct (Rle_lt_dec (inner (mean_map l) q) lam) as [|X]; [easy|]. exfalso.
  assert (N : l <> []) by (now intros ->). set (o := mean_map l) in *. set (n := INR (length l)).
  assert (P : 0 < n) by (now apply length_positive).
  assert (M : norm2 o = mean (map (inner o) l)) by exact (inner_mean l o).
  destruct (shrink lam (map (inner o) l) L) as [d [D H]].
  set (over := sum (map (fun p => beyond lam (inner o p)) l)).
  assert (V : 0 < over).
  { assert (S : forall k : list E, 0 <= sum (map (fun p => beyond lam (inner o p)) k)).
    { intros k. induction k as [|p k IH]; cbn [map]; [simpl; lra|]. rewrite sum_cons. unfold beyond at 1. destruct (Rle_lt_dec _ _); lra. }
    unfold over. revert Q. generalize l. intros k. induction k as [|p k IH]; [easy|]. cbn [map]. rewrite sum_cons. specialize (S k).
    intros [->|I].
    - unfold beyond at 1. destruct (Rle_lt_dec _ _); lra.
    - specialize (IH I). unfold beyond at 1. destruct (Rle_lt_dec _ _); lra. }
  assert (Z : 0 <= norm2 o) by apply inner_positive.
  set (t := Rmin d (over / (n * (norm2 o + 1)))).
  assert (T : 0 < t /\ t <= d /\ t * (n * (norm2 o + 1)) <= over).
  { assert (0 < n * (norm2 o + 1)) by (apply Rmult_lt_0_compat; lra).
    assert (0 < over / (n * (norm2 o + 1))) by (now apply Rdiv_lt_0_compat). unfold t. repeat split.
    - apply Rmin_glb_lt; lra.
    - apply Rmin_l.
    - apply (Rmult_le_reg_r (/ (n * (norm2 o + 1)))); [now apply Rinv_0_lt_compat|]. rewrite Rmult_assoc, Rinv_r, Rmult_1_r by lra.
      apply Rmin_r. }
  specialize (O (scale ((1 - t) / lam) o)). unfold svm in O.
  assert (I0 : 0 < / lam) by (now apply Rinv_0_lt_compat).
  assert (A : sum (map (fun p => hinge (1 - inner (scale ((1 - t) / lam) o) p)) l) <=
    sum (map (fun p => hinge (1 - inner (scale (/ lam) o) p)) l) + t / lam * (n * norm2 o - over)).
  { replace (n * norm2 o) with (sum (map (inner o) l)) by (rewrite M; unfold mean; rewrite map_length; unfold n in *; field; lra).
    unfold over. rewrite Rmult_minus_distr_l, <- !sum_scale.
    replace (sum (map (fun p => hinge (1 - inner (scale (/ lam) o) p)) l) +
      (sum (map (fun p => t / lam * inner o p) l) - sum (map (fun p => t / lam * beyond lam (inner o p)) l)))
      with (sum (map (fun p => hinge (1 - inner (scale (/ lam) o) p) + (t / lam * inner o p + -1 * (t / lam * beyond lam (inner o p)))) l))
      by (rewrite !sum_add, sum_scale with (c := -1); ring).
    apply sum_le. intros p I. rewrite !inner_scale. set (x := inner o p). unfold beyond. destruct (Rle_lt_dec x lam) as [Y|Y].
    - assert (/ lam * x <= 1) by (apply (Rmult_le_reg_l lam); [easy|]; rewrite <- Rmult_assoc, Rinv_r; lra).
      rewrite (hinge_of_positive (1 - / lam * x)) by lra.
      destruct (Rle_lt_dec 0 (1 - (1 - t) / lam * x)) as [G|G].
      + rewrite hinge_of_positive by easy. apply Req_le. field. lra.
      + exfalso. assert (0 < x) by (destruct (Rle_lt_dec x 0); [|easy]; unfold Rdiv in G; nra). unfold Rdiv in G. nra.
    - assert (lam <= (1 - t) * x) by (apply H; [now apply in_map | easy | lra]).
      assert (1 <= (1 - t) / lam * x).
      { apply (Rmult_le_reg_l lam); [easy|]. replace (lam * ((1 - t) / lam * x)) with ((1 - t) * x) by (field; lra). lra. }
      rewrite (hinge_of_negative (1 - (1 - t) / lam * x)) by lra. generalize (hinge_positive (1 - / lam * x)). lra. }
  assert (B : mean (map (fun p => hinge (1 - inner (scale ((1 - t) / lam) o) p)) l) <=
    mean (map (fun p => hinge (1 - inner (scale (/ lam) o) p)) l) + t / lam * (norm2 o - over / n)).
  { unfold mean. rewrite !map_length. fold n. apply (Rmult_le_reg_r n); [easy|].
    replace ((sum (map (fun p => hinge (1 - inner (scale (/ lam) o) p)) l) / n + t / lam * (norm2 o - over / n)) * n)
      with (sum (map (fun p => hinge (1 - inner (scale (/ lam) o) p)) l) + t / lam * (n * norm2 o - over)) by (field; lra).
    unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l, Rmult_1_r by lra. exact A. }
  assert (C : norm2 (scale ((1 - t) / lam) o) = (1 - t) * (1 - t) / (lam * lam) * norm2 o).
  { unfold norm2. rewrite inner_scale, inner_scale_right. field. lra. }
  assert (C' : norm2 (scale (/ lam) o) = / (lam * lam) * norm2 o).
  { unfold norm2. rewrite inner_scale, inner_scale_right. field. lra. }
  rewrite C, C' in O.
  assert (G : t / lam * (norm2 o - over / n) + lam / 2 * ((1 - t) * (1 - t) / (lam * lam) * norm2 o) - lam / 2 * (/ (lam * lam) * norm2 o)
    = t * / lam * (t * norm2 o / 2 - over / n)) by (field; lra).
  assert (K : t * norm2 o + t <= over / n).
  { apply (Rmult_le_reg_r n); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (0 < t * / lam) by (apply Rmult_lt_0_compat; lra).
  assert (t * norm2 o / 2 - over / n < 0) by nra.
  assert (t * / lam * (t * norm2 o / 2 - over / n) < 0) by nra. lra.
Qed.

(** * RMW-T14-label-free: without the hypothesis of Theorem 13 Theorem 14 is false, by a loss that does not depend on the label *)

Definition convex (f : R -> R) : Prop := forall u w t, 0 <= t <= 1 -> f (t * u + (1 - t) * w) <= t * f u + (1 - t) * f w.
(** A distribution of finitely many (mass, point, label), and the risk of a classifier when labels turn with the chance sigma. *)
Definition noisy_risk (loss : R -> R -> R) (sigma : R) (p : world) (f : R -> R) : R :=
  expect p (fun x y => (1 - sigma) * loss y (f x) + sigma * loss (- y) (f x)).
(** Robust (Definition 10): noise below 1/2 leaves the order of classifiers as it is. *)
Definition robust (loss : R -> R -> R) : Prop := forall p f g sigma, 0 <= sigma < 1 / 2 ->
  (noisy_risk loss 0 p f <= noisy_risk loss 0 p g <-> noisy_risk loss sigma p f <= noisy_risk loss sigma p g).

Theorem RMW_T14_label_free : ~ forall loss : R -> R -> R, (forall y, convex (loss y)) /\ robust loss <->
  exists lam g, forall y v, y = 1 \/ y = -1 -> loss y v = lam * y * v + g y.
Proof.
  intros H. specialize (H (fun _ v => v * v)). destruct H as [H _].
  destruct H as [lam [g G]].
  - split.
    + intros y u w t T. assert (0 <= t * (1 - t) * ((u - w) * (u - w))) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra | apply Rle_0_sqr]). lra.
    + intros p f h sigma S. unfold noisy_risk. assert (E : forall k : R -> R,
        expect p (fun x y => (1 - sigma) * (k x * k x) + sigma * (k x * k x)) = expect p (fun x y => (1 - 0) * (k x * k x) + 0 * (k x * k x))).
      { intros k. unfold expect. f_equal. apply map_ext. intros a. ring. }
      rewrite !E. reflexivity.
  - generalize (G 1 0 (or_introl eq_refl)) (G 1 1 (or_introl eq_refl)) (G 1 2 (or_introl eq_refl)). lra.
Qed.

(** * KJ-Thm6: the constant 1/4, on two points x = gamma, y = 1 of mass 2 eps and x = 0 = y *)

Definition two_points (gamma eps : R) : world := [(2 * eps, (gamma, 1)); (1 - 2 * eps, (0, 0))].

Lemma two_points_loss gamma eps w :
  expect (two_points gamma eps) (fun x y => Rabs (y - predicted linear (two_points gamma eps) w x)) =
  2 * eps * Rabs (1 - 2 * eps * (gamma * gamma) * w gamma).
Proof.
  unfold expect, predicted, expect, two_points, linear, sum. cbn [map fold_right fst snd].
  replace (0 - _) with 0 by ring. rewrite Rabs_R0.
  replace (1 - (_ + _)) with (1 - 2 * eps * (gamma * gamma) * w gamma) by ring. ring.
Qed.

Theorem KJ_Thm6b_two gamma eps : 0 < gamma <= 1 -> 0 < eps <= 1 / 2 ->
  good_linear_kernel (two_points gamma eps) 0 gamma /\
  forall B, good_similarity linear (two_points gamma eps) eps B <-> 1 / (4 * eps * gamma ^ 2) <= B.
Proof.
  intros G E. assert (P : 0 < 4 * eps * gamma ^ 2) by (repeat apply Rmult_lt_0_compat; lra). split.
  - exists 1. split; [rewrite Rabs_R1; lra|]. unfold expect, two_points, sum. cbn [map fold_right fst snd].
    replace (1 - 1 * gamma / gamma) with 0 by (field; lra). replace (0 - 1 * 0 / gamma) with 0 by (field; lra). rewrite Rabs_R0. lra.
  - intros B. split.
    + intros [w [W L]]. rewrite two_points_loss in L. generalize (Rle_abs (1 - 2 * eps * (gamma * gamma) * w gamma)). intros A.
      generalize (Rle_abs (w gamma)) (W gamma). intros C D.
      apply (Rmult_le_reg_r (4 * eps * gamma ^ 2)); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
      assert (S : Rabs (1 - 2 * eps * (gamma * gamma) * w gamma) <= 1 / 2) by (apply (Rmult_le_reg_l (2 * eps)); lra).
      assert (0 <= 4 * eps * gamma ^ 2 * (B - w gamma)) by (apply Rmult_le_pos; lra). nra.
    + intros H. exists (fun _ => 1 / (4 * eps * gamma ^ 2)). split.
      * intros _. rewrite Rabs_right; [easy|]. apply Rle_ge. left. apply Rdiv_lt_0_compat; lra.
      * rewrite two_points_loss. replace (1 - _) with (1 / 2) by (field; lra). rewrite Rabs_right; lra.
Qed.

(** * KJ-Thm14: the constant 1/4, on x = 2 gamma with label 2 and mass eps / margin and x = 0 with label 1 *)

Definition two_labels (gamma mass : R) : world := [(mass, (2 * gamma, 2)); (1 - mass, (0, 1))].

Lemma two_labels_loss gamma mass margin w b :
  expect (two_labels gamma mass) (fun x y => margin_loss_two margin b (predicted linear (two_labels gamma mass) w x) y) =
  mass * hinge (b + margin - 4 * mass * (gamma * gamma) * w (2 * gamma)) + (1 - mass) * hinge (margin - b).
Proof.
  unfold expect, predicted, expect, two_labels, linear, margin_loss_two, sum. cbn [map fold_right fst snd].
  destruct (Req_EM_T 2 2) as [_|]; [|easy]. destruct (Req_EM_T 1 2); [lra|].
  replace (b + margin - (_ + _)) with (b + margin - 4 * mass * (gamma * gamma) * w (2 * gamma)) by ring.
  replace (_ - b + margin) with (margin - b) by ring. ring.
Qed.

Theorem KJ_Thm14b_two gamma margin eps : 0 < gamma -> 0 < margin -> 0 < eps <= margin / 2 ->
  good_ordinal_kernel (two_labels gamma (eps / margin)) 0 gamma /\
  forall B, good_ordinal linear (two_labels gamma (eps / margin)) margin eps B <-> margin ^ 2 / (4 * eps * gamma ^ 2) <= B.
Proof.
  intros G M E. set (mass := eps / margin). assert (Q : eps = mass * margin) by (unfold mass; field; lra).
  assert (P : 0 < mass <= 1 / 2).
  { unfold mass. split; [apply Rdiv_lt_0_compat; lra|]. apply (Rmult_le_reg_r margin); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra. }
  clearbody mass. assert (U : 0 < 4 * mass * gamma ^ 2) by (apply Rmult_lt_0_compat; [lra | apply pow_lt; lra]).
  assert (V : margin ^ 2 / (4 * eps * gamma ^ 2) = margin / (4 * mass * gamma ^ 2)) by (rewrite Q; field; repeat split; lra).
  rewrite V. split.
  - exists 1, 1. split; [rewrite Rabs_R1; lra|]. unfold expect, two_labels, margin_loss_two, sum. cbn [map fold_right fst snd].
    destruct (Req_EM_T 2 2) as [_|]; [|easy]. destruct (Req_EM_T 1 2); [lra|].
    replace (1 + 1 - 1 * (2 * gamma) / gamma) with 0 by (field; lra). replace (1 * 0 / gamma - 1 + 1) with 0 by (field; lra).
    rewrite hinge_of_positive; lra.
  - intros B. split.
    + intros [w [b [W L]]]. rewrite two_labels_loss in L.
      generalize (Rle_abs (w (2 * gamma))) (W (2 * gamma)). intros C D.
      set (x := 4 * mass * (gamma * gamma) * w (2 * gamma)) in *.
      assert (S : mass * (2 * margin - x) <= mass * margin).
      { generalize (hinge_above (b + margin - x)) (hinge_above (margin - b)) (hinge_positive (margin - b)). intros. nra. }
      assert (margin <= x) by nra.
      apply (Rmult_le_reg_r (4 * mass * gamma ^ 2)); [easy|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
      assert (0 <= 4 * mass * gamma ^ 2 * (B - w (2 * gamma))) by (apply Rmult_le_pos; lra). unfold x in *. nra.
    + intros H. exists (fun _ => margin / (4 * mass * gamma ^ 2)), margin. split.
      * intros _. rewrite Rabs_right; [easy|]. apply Rle_ge. left. now apply Rdiv_lt_0_compat.
      * rewrite two_labels_loss. replace (margin + margin - _) with margin by (field; lra).
        rewrite (hinge_of_positive margin), (hinge_of_positive (margin - margin)); lra.
Qed.
Lemma share_of_hinge A c x : 0 <= A <= c -> A * x <= c * hinge x.
Proof. intros H. generalize (hinge_above x) (hinge_positive x). intros. assert (A * x <= A * hinge x) by (apply Rmult_le_compat_l; lra).
  assert (A * hinge x <= c * hinge x) by (apply Rmult_le_compat_r; lra). lra. Qed.

(** * RMW-LS2: where label noise makes the hinge loss fail, three points in the plane (Long and Servedio) *)

(** (1, 0) and (gamma, 5 gamma) with mass 1/4 each, (gamma, -gamma) with mass 1/2, all of label 1; sigma the rate of noise. *)
Definition noisy_hinge (sigma m : R) : R := (1 - sigma) * hinge (1 - m) + sigma * hinge (1 + m).
Definition servedio_risk (gamma sigma a b : R) : R :=
  1 / 4 * noisy_hinge sigma a + 1 / 4 * noisy_hinge sigma (gamma * a + 5 * gamma * b) + 1 / 2 * noisy_hinge sigma (gamma * a - gamma * b).
Definition servedio_optimal (gamma sigma a b : R) : Prop := forall c d, servedio_risk gamma sigma a b <= servedio_risk gamma sigma c d.

Lemma share_of_hinge_strict A c x : 0 < A < c -> x <> 0 -> A * x < c * hinge x.
Proof.
  intros H N. destruct (Rtotal_order x 0) as [X|[X|X]]; [|easy|].
  - rewrite hinge_of_negative by lra. nra.
  - rewrite hinge_of_positive by lra. apply Rmult_lt_compat_r; lra.
Qed.

Lemma noisy_below A sigma m : 0 <= sigma -> 0 <= A <= 1 - sigma -> A * (1 - m) + sigma * (1 + m) <= noisy_hinge sigma m.
Proof.
  intros S H. unfold noisy_hinge. generalize (share_of_hinge A (1 - sigma) (1 - m) H) (share_of_hinge sigma sigma (1 + m)). lra.
Qed.

Lemma noisy_above A sigma m : 0 <= sigma -> 0 < A < 1 - sigma -> m <> 1 -> A * (1 - m) + sigma * (1 + m) < noisy_hinge sigma m.
Proof.
  intros S H N. unfold noisy_hinge. generalize (share_of_hinge_strict A (1 - sigma) (1 - m) H ltac:(lra)) (share_of_hinge sigma sigma (1 + m)). lra.
Qed.

Lemma clean_risk gamma sigma : 0 < gamma < 1 ->
  servedio_risk gamma sigma (1 / gamma) 0 = 1 / 4 * (sigma * (1 + 1 / gamma)) + 3 / 4 * (2 * sigma).
Proof.
  intros G. assert (1 < 1 / gamma) by (apply (Rmult_lt_reg_r gamma); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra).
  unfold servedio_risk, noisy_hinge. replace (gamma * (1 / gamma) + 5 * gamma * 0) with 1 by (field; lra).
  replace (gamma * (1 / gamma) - gamma * 0) with 1 by (field; lra).
  rewrite (hinge_of_negative (1 - 1 / gamma)), (hinge_of_positive (1 + 1 / gamma)), (hinge_of_negative (1 - 1)), (hinge_of_positive (1 + 1)) by lra.
  field. lra.
Qed.

Lemma threshold_below gamma sigma : 0 < gamma -> sigma <= 12 * gamma / (5 + 24 * gamma) -> 5 * (sigma / gamma) <= 12 * (1 - 2 * sigma).
Proof.
  intros G T. apply (Rmult_le_compat_r (5 + 24 * gamma)) in T; [|lra]. unfold Rdiv in T. rewrite Rmult_assoc, Rinv_l in T by lra.
  apply (Rmult_le_reg_r gamma); [lra|]. replace (5 * (sigma / gamma) * gamma) with (5 * sigma) by (field; lra). lra.
Qed.

(** Below the threshold sigma = 12 gamma / (5 + 24 gamma) the clean separator, with no error, minimises the noisy risk. *)
Theorem RMW_LS2_below_the_threshold gamma sigma : 0 < gamma < 1 -> 0 < sigma < 1 / 2 ->
  sigma <= 12 * gamma / (5 + 24 * gamma) -> servedio_optimal gamma sigma (1 / gamma) 0.
Proof.
  intros G S T c d. rewrite clean_risk by easy. unfold servedio_risk.
  assert (I : 0 < sigma / gamma) by (apply Rdiv_lt_0_compat; lra). generalize (threshold_below gamma sigma (proj1 G) T). intros J.
  generalize (noisy_below 0 sigma c ltac:(lra) ltac:(lra)).
  generalize (noisy_below (sigma + sigma / gamma / 6) sigma (gamma * c + 5 * gamma * d) ltac:(lra) ltac:(lra)).
  generalize (noisy_below (sigma + 5 * (sigma / gamma) / 12) sigma (gamma * c - gamma * d) ltac:(lra) ltac:(lra)).
  replace ((sigma + sigma / gamma / 6) * (1 - (gamma * c + 5 * gamma * d)))
    with (sigma + sigma / gamma / 6 - (sigma * gamma + sigma / 6) * (c + 5 * d)) by (field; lra).
  replace ((sigma + 5 * (sigma / gamma) / 12) * (1 - (gamma * c - gamma * d)))
    with (sigma + 5 * (sigma / gamma) / 12 - (sigma * gamma + 5 * sigma / 12) * (c - d)) by (field; lra).
  replace (sigma * (1 + 1 / gamma)) with (sigma + sigma / gamma) by (field; lra). intros. lra.
Qed.

(** Alone, if sigma is below it. *)
Theorem RMW_LS2_only_below gamma sigma c d : 0 < gamma < 1 -> 0 < sigma < 1 / 2 ->
  sigma < 12 * gamma / (5 + 24 * gamma) -> servedio_optimal gamma sigma c d -> c = 1 / gamma /\ d = 0.
Proof.
  intros G S T O. specialize (O (1 / gamma) 0). rewrite clean_risk in O by easy. unfold servedio_risk in O.
  assert (I : 0 < sigma / gamma) by (apply Rdiv_lt_0_compat; lra).
  assert (J : 5 * (sigma / gamma) < 12 * (1 - 2 * sigma)).
  { apply (Rmult_lt_compat_r (5 + 24 * gamma)) in T; [|lra]. unfold Rdiv in T. rewrite Rmult_assoc, Rinv_l in T by lra.
    apply (Rmult_lt_reg_r gamma); [lra|]. replace (5 * (sigma / gamma) * gamma) with (5 * sigma) by (field; lra). lra. }
  set (A := sigma + sigma / gamma / 6) in *. set (B := sigma + 5 * (sigma / gamma) / 12) in *.
  set (x := gamma * c + 5 * gamma * d) in *. set (y := gamma * c - gamma * d) in *.
  assert (HA : 0 < A < 1 - sigma) by (unfold A; lra). assert (HB : 0 < B < 1 - sigma) by (unfold B; lra).
  assert (V : 1 / 4 * (sigma * (1 + c)) + 1 / 4 * (A * (1 - x) + sigma * (1 + x)) + 1 / 2 * (B * (1 - y) + sigma * (1 + y)) =
    1 / 4 * (sigma * (1 + 1 / gamma)) + 3 / 4 * (2 * sigma)) by (unfold A, B, x, y; field; lra).
  generalize (noisy_below 0 sigma c ltac:(lra) ltac:(lra)) (noisy_below A sigma x ltac:(lra) ltac:(lra)) (noisy_below B sigma y ltac:(lra) ltac:(lra)).
  intros N1 N2 N3.
  assert (X : x = 1) by (destruct (Req_EM_T x 1); [easy|]; exfalso; generalize (noisy_above A sigma x ltac:(lra) HA n); lra).
  assert (Y : y = 1) by (destruct (Req_EM_T y 1); [easy|]; exfalso; generalize (noisy_above B sigma y ltac:(lra) HB n); lra).
  assert (D : gamma * d = 0) by (unfold x, y in *; lra). apply Rmult_integral in D. assert (D' : d = 0) by lra. split; [|easy].
  apply (Rmult_eq_reg_l gamma); [|lra]. replace (gamma * (1 / gamma)) with 1 by (field; lra). unfold y in Y. rewrite D' in Y. lra.
Qed.

(** Above it another does, which errs on the point of mass 1/2 if gamma < 1/6, and no other: the clean separator no longer does. *)
Theorem RMW_LS2_above_the_threshold gamma sigma : 0 < gamma < 1 -> 0 < sigma < 1 / 2 ->
  12 * gamma / (5 + 24 * gamma) < sigma ->
  (forall c d, servedio_optimal gamma sigma c d <-> c = 1 /\ d = (1 / gamma - 1) / 5) /\
  (gamma * 1 - gamma * ((1 / gamma - 1) / 5) < 0 <-> gamma < 1 / 6).
Proof.
  intros G S T.
  assert (T' : 12 * gamma < sigma * (5 + 24 * gamma)).
  { apply (Rmult_lt_compat_r (5 + 24 * gamma)) in T; [|lra]. unfold Rdiv in T. rewrite Rmult_assoc, Rinv_l in T; lra. }
  set (b := (1 / gamma - 1) / 5). assert (M2 : gamma * 1 + 5 * gamma * b = 1) by (unfold b; field; lra).
  assert (M3 : gamma * 1 - gamma * b = (6 * gamma - 1) / 5) by (unfold b; field; lra).
  assert (V : servedio_risk gamma sigma 1 b = 1 / 2 * (2 * sigma) + 1 / 2 * ((1 - sigma) * (1 - (6 * gamma - 1) / 5) + sigma * (1 + (6 * gamma - 1) / 5))).
  { unfold servedio_risk, noisy_hinge. rewrite M2, M3.
    rewrite (hinge_of_negative (1 - 1)), (hinge_of_positive (1 + 1)), (hinge_of_positive (1 - _ / _)), (hinge_of_positive (1 + _ / _)) by lra. lra. }
  set (A := sigma - 12 * gamma * (1 - 2 * sigma) / 5). set (B := sigma + 2 * (1 - 2 * sigma) / 5).
  assert (HA : 0 < A < 1 - sigma) by (unfold A; split; nra). assert (HB : 0 < B < 1 - sigma) by (unfold B; lra).
  assert (E : forall c d, let x := gamma * c + 5 * gamma * d in let y := gamma * c - gamma * d in
    1 / 4 * (A * (1 - c) + sigma * (1 + c)) + 1 / 4 * (B * (1 - x) + sigma * (1 + x)) + 1 / 2 * ((1 - sigma) * (1 - y) + sigma * (1 + y)) =
    servedio_risk gamma sigma 1 b) by (intros c d; rewrite V; unfold A, B; field).
  assert (N : forall c d, (c <> 1 \/ gamma * c + 5 * gamma * d <> 1 -> servedio_risk gamma sigma 1 b < servedio_risk gamma sigma c d) /\
    servedio_risk gamma sigma 1 b <= servedio_risk gamma sigma c d).
  { intros c d. rewrite <- (E c d). unfold servedio_risk. set (x := gamma * c + 5 * gamma * d). set (y := gamma * c - gamma * d).
    generalize (noisy_below A sigma c ltac:(lra) ltac:(lra)) (noisy_below B sigma x ltac:(lra) ltac:(lra)) (noisy_below (1 - sigma) sigma y ltac:(lra)
      ltac:(lra)).
    intros N1 N2 N3. split; [|lra]. intros [H|H]; [generalize (noisy_above A sigma c ltac:(lra) HA H) | generalize (noisy_above B sigma x ltac:(lra) HB
      H)]; lra. }
  split; [|rewrite M3; lra]. intros c d. split.
  - intros O. specialize (O 1 b). destruct (N c d) as [L _].
    destruct (Req_EM_T c 1) as [->|C]; [|exfalso; specialize (L (or_introl C)); lra].
    destruct (Req_EM_T (gamma * 1 + 5 * gamma * d) 1) as [X|X]; [|exfalso; specialize (L (or_intror X)); lra].
    split; [easy|]. apply (Rmult_eq_reg_l (5 * gamma)); lra.
  - intros [-> ->] c' d'. apply N.
Qed.
